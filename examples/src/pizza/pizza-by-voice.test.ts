import { describe, expect, it } from 'vitest'
import { exampleDraft } from '../io/example-drafts.ts'
import { MONDAY, Walk } from '../testing/walk.ts'
import type { Pizza } from './menu.ts'
import { Pizzeria } from './pizzeria.ts'

const CONFIRM = 'Una pizza margarita grande: 12 euros. ¿Lo pido? Pulse 1 para decir que sí.'

function callPizzeria(soldOut: readonly Pizza[] = []) {
  const pizza = new Pizzeria(() => MONDAY, soldOut)
  const call = new Walk(exampleDraft('pizza').draft, { pizza })
  call.start()
  return { pizza, call }
}

/** A call up to the confirmation of the order. */
function orderMargarita(call: Walk) {
  call.says('Una margarita grande', { choose: 'edge:pedir' }, { read: { pizza: 'margarita', tamano: 'grande' } })
  return call.says('Calle Mayor 5', { read: { direccion: 'Calle Mayor 5' } })
}

describe('a caller of the pizzeria', () => {
  it('a caller orders with one sentence and the address', () => {
    const { pizza, call } = callPizzeria()
    expect(orderMargarita(call)).toEqual(['Un momento.', CONFIRM])
    expect(call.says('Sí', { choose: 'edge:si' })).toEqual([
      'Su pedido es el 101. Llega en treinta minutos. Gracias y hasta luego.',
      '(completed)',
    ])
    expect(pizza.orders).toEqual([
      { number: '101', pizza: 'margarita', size: 'grande', count: 1, address: 'Calle Mayor 5', orderedAt: MONDAY },
    ])
  })

  it('missing details are asked for one after another', () => {
    const { call } = callPizzeria()
    expect(call.says('Quiero hacer un pedido', { choose: 'edge:pedir' }, { read: {} })).toEqual([
      '[enter] Di "¿Qué le pongo?"',
    ])
    expect(call.says('Vegetal', { choose: 'edge:pizza' }, { read: { pizza: 'vegetal' } })).toEqual([
      '[enter] Pregunta si la quiere pequeña, mediana o grande.',
    ])
    expect(call.says('Dos medianas', { choose: 'edge:tamano' }, { read: { tamano: 'mediana', cantidad: 2 } })).toEqual([
      '[enter] Pregunta a qué dirección la llevamos.',
    ])
    expect(call.says('Calle Mayor 5', { read: { direccion: 'Calle Mayor 5' } }).at(-1)).toMatch(
      /^2 pizzas vegetal medianas: 22 euros/,
    )
  })

  it('a caller may change the order before it is placed', () => {
    const { pizza, call } = callPizzeria()
    orderMargarita(call)
    const changed = call.says('Mejor pequeña', { choose: 'edge:cambio' }, { read: { tamano: 'pequeña' } })
    expect(changed.at(-1)).toMatch(/^Una pizza margarita pequeña: 8 euros/)
    expect(pizza.orders).toEqual([])
  })

  it('the house number is not taken for the number of pizzas if the pizza changes after the address', () => {
    const { pizza, call } = callPizzeria()
    orderMargarita(call)
    call.says('No', { choose: 'edge:no' })
    call.says('Vegetal', { choose: 'edge:pizza' }, { read: { pizza: 'vegetal', cantidad: 5 } })
    call.presses('1')
    expect(pizza.orders).toMatchObject([{ pizza: 'vegetal', count: 1 }])
  })

  it('a caller asks for the state of an order by keys', () => {
    const { pizza, call } = callPizzeria()
    orderMargarita(call)
    call.presses('1')
    const later = new Walk(exampleDraft('pizza').draft, { pizza })
    later.start()
    expect(later.presses('2')).toEqual(['[enter] Di "Marque el número de su pedido, o dígamelo."'])
    expect(later.presses('101')).toEqual(['Su pedido está en el horno. ¿Quiere algo más?'])
    expect(later.presses('7')[0]).toMatch(/^No encuentro ese pedido/)
    expect(later.says('No', { choose: 'edge:no' })).toEqual(['Gracias por llamar. Hasta luego.', '(completed)'])
  })

  it('the order continues after a question for the opening hours', () => {
    const { call } = callPizzeria()
    call.says('Quiero una margarita', { choose: 'edge:pedir' }, { read: { pizza: 'margarita' } })
    expect(call.says('¿A qué hora cierran?', { choose: 'global:horario' })).toEqual([
      'Abrimos todos los días, de siete a doce de la noche.',
      '[return] Pregunta si la quiere pequeña, mediana o grande.',
    ])
  })

  it('after three misunderstandings the caller is transferred to a person, and the order continues if none is available', () => {
    const { call } = callPizzeria()
    call.mumbles()
    call.mumbles()
    expect(call.mumbles()).toEqual([
      '(transfer to +12025550178)',
      'Ahora no se puede poner nadie.',
      '[enter] Di "¿Qué le pongo?"',
    ])
  })
})

describe('failures of the pizzeria', () => {
  it('the agent asks for another pizza when the chosen one is sold out', () => {
    const { pizza, call } = callPizzeria(['margarita'])
    orderMargarita(call)
    expect(call.says('Sí', { choose: 'edge:si' })).toEqual([
      'Lo siento, esa pizza no se puede pedir ahora.',
      '[enter] Di "¿Qué le pongo?"',
    ])
    call.says('Vegetal', { choose: 'edge:pizza' }, { read: { pizza: 'vegetal' } })
    expect(call.presses('1').at(-1)).toBe('(completed)')
    expect(pizza.orders.map(order => order.pizza)).toEqual(['vegetal'])
  })

  it('the agent apologises and ends if the kitchen does not respond', () => {
    const { call } = callPizzeria()
    call.isDown = true
    expect(orderMargarita(call)).toEqual([
      'Un momento.',
      'Nuestra cocina no contesta. Llame un poco más tarde, por favor. Hasta luego.',
      '(completed)',
    ])
  })
})
