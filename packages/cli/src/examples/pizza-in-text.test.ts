import type { ExampleServerOptions } from '@parley/examples'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ExampleSession } from './example-session.ts'

async function callPizzeria(options: ExampleServerOptions = {}): Promise<ExampleSession> {
  const session = await ExampleSession.open('pizza', options)
  onTestFinished(() => session.close())
  await session.start()
  return session
}

/** A call up to the confirmation of the order. */
async function orderMargarita(options: ExampleServerOptions = {}): Promise<ExampleSession> {
  const session = await callPizzeria(options)
  await session.say('Quiero una pizza margarita grande.')
  await session.say('Calle Mayor 5.')
  return session
}

describe('the example pizzeria on rules-1', () => {
  it('a caller orders a pizza in plain sentences', async () => {
    const session = await ExampleSession.open('pizza')
    onTestFinished(() => session.close())
    expect(await session.start()).toBe(
      'Pizzería La Plaza, buenas tardes. ¿Qué desea? Para saber de un pedido, pulse 2.',
    )
    expect(await session.say('Hola, quiero pedir una pizza.')).toBe('¿Qué le pongo?')
    expect(await session.say('Una margarita, por favor.')).toMatch(/¿.*pequeña, mediana o grande\?/)
    expect(await session.say('Grande.')).toMatch(/¿.*dirección.*\?/)
    expect(await session.say('A la calle Mayor 5.')).toBe(
      'Un momento. Una pizza margarita grande: 12 euros. ¿Lo pido? Pulse 1 para decir que sí.',
    )
    expect(await session.say('Sí, perfecto.')).toBe(
      'Su pedido es el 101. Llega en treinta minutos. Gracias y hasta luego.',
    )
    expect(session.outcome).toBe('completed')
    expect(session.server.orders).toMatchObject([
      { number: '101', pizza: 'margarita', size: 'grande', count: 1, address: expect.stringMatching(/calle Mayor 5/i) },
    ])
    expect(session.actions()).toEqual(['ver_precio succeeded', 'hacer_pedido succeeded'])
  })

  it.each([
    ['Quería dos pizzas vegetales medianas', 2, 'vegetal', 'mediana'],
    ['Póngame una barbacoa pequeña', 1, 'barbacoa', 'pequeña'],
    ['Quiero pedir tres pepperoni grandes, por favor', 3, 'pepperoni', 'grande'],
  ])('the single sentence "%s" is a complete order', async (order, count, pizza, size) => {
    const session = await callPizzeria()
    await session.say(order)
    expect(session.node).toBe('entrega/pedir_direccion')
    await session.say('Avenida de América 12, segundo B')
    expect(session.node).toBe('confirmar')
    await session.say('Sí')
    expect(session.server.orders).toMatchObject([{ pizza, size, count }])
  })

  it('a caller who asks for the menu hears the pizzas', async () => {
    const session = await callPizzeria()
    await session.say('Quiero hacer un pedido')
    expect(await session.say('¿Qué pizzas hay en la carta?')).toMatch(
      /Tenemos margarita, pepperoni, barbacoa y vegetal\./,
    )
    await session.say('La de barbacoa')
    expect(session.node).toBe('pedir_tamano')
  })

  it('a caller can change the order before confirming it', async () => {
    const session = await orderMargarita()
    expect(await session.say('Mejor pequeña')).toMatch(/Una pizza margarita pequeña: 8 euros/)
    expect(await session.say('No, quiero una vegetal')).toMatch(/Una pizza vegetal pequeña: 9 euros/)
    await session.say('Vale')
    expect(session.server.orders).toMatchObject([{ pizza: 'vegetal', size: 'pequeña', count: 1 }])
  })

  it('a question about opening hours is answered, and the order continues where it was', async () => {
    const session = await callPizzeria()
    await session.say('Quiero una margarita')
    expect(session.node).toBe('pedir_tamano')
    expect(await session.say('¿A qué hora cierran?')).toMatch(
      /^Abrimos todos los días, de siete a doce de la noche\. ¿.*grande\?/,
    )
    await session.say('Mediana')
    expect(session.node).toBe('entrega/pedir_direccion')
  })

  it('a caller can ask for the state of an order', async () => {
    const session = await callPizzeria()
    const order = { pizza: 'vegetal', size: 'grande', count: '1', address: 'Calle Mayor 5' }
    await fetch(`${session.server.origin}/pizza/orders`, { method: 'POST', body: JSON.stringify(order) })
    await session.say('¿Dónde está mi pedido?')
    expect(session.node).toBe('pedir_numero')
    expect(await session.say('Es el 101')).toBe('Su pedido está en el horno. ¿Quiere algo más?')
    expect(await session.say('No, gracias.')).toBe('Gracias por llamar. Hasta luego.')
  })

  it('a caller who asks for a person continues with the order, because no person is available', async () => {
    const session = await callPizzeria()
    await session.say('Quiero una margarita grande')
    expect(await session.say('Quiero hablar con una persona')).toMatch(/^Ahora no se puede poner nadie\. ¿.*dirección/)
  })
})

describe('the example pizzeria when something goes wrong', () => {
  it('a caller whose pizza is sold out can order another one', async () => {
    const session = await orderMargarita({ soldOut: ['margarita'] })
    expect(await session.say('Sí')).toBe('Lo siento, esa pizza no se puede pedir ahora. ¿Qué le pongo?')
    await session.say('Entonces vegetal')
    await session.say('Sí')
    expect(session.server.orders).toMatchObject([{ pizza: 'vegetal', size: 'grande', count: 1 }])
  })

  it('if the server of the pizzeria is down, the agent says so and ends the call', async () => {
    const session = await callPizzeria()
    await session.say('Quiero una pizza margarita grande')
    await session.server.close()
    expect(await session.say('Calle Mayor 5')).toBe(
      'Un momento. Nuestra cocina no contesta. Llame un poco más tarde, por favor. Hasta luego.',
    )
    expect(session.outcome).toBe('completed')
  })
})
