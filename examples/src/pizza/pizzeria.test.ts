import { describe, expect, it } from 'vitest'
import { MONDAY } from '../testing/walk.ts'
import { Pizzeria } from './pizzeria.ts'

const MINUTE = 60_000
const ASKED = {
  method: 'POST',
  path: '/',
  query: new URLSearchParams(),
  content: '',
  body: {},
  idempotencyKey: null,
  signature: null,
}
const MARGARITA = { pizza: 'Margarita', size: 'GRANDE', count: '2', address: 'Calle Mayor 5' }

function kitchen(soldOut: 'vegetal'[] = []) {
  const clock = { now: MONDAY }
  const pizzeria = new Pizzeria(() => clock.now, soldOut)
  const get = (path: 'GET /menu' | 'GET /price' | 'GET /orders', query: Record<string, string> = {}) =>
    pizzeria.operations[path]({ ...ASKED, method: 'GET', query: new URLSearchParams(query) })
  const order = (body: Record<string, unknown>, idempotencyKey: string | null = null) =>
    pizzeria.operations['POST /orders']({ ...ASKED, content: JSON.stringify(body), body, idempotencyKey })
  return { pizzeria, clock, get, order }
}

describe('the menu', () => {
  it('the menu lists the available pizzas', () => {
    expect(kitchen(['vegetal']).get('GET /menu').body.message).toBe('Tenemos margarita, pepperoni y barbacoa.')
  })

  it('a dish on the menu has a price, with or without accents', () => {
    const { get } = kitchen()
    expect(get('GET /price', { pizza: 'barbacoa', size: 'pequena' }).body).toMatchObject({
      price: 10,
      message: 'Una pizza barbacoa pequeña: 10 euros.',
    })
    expect(get('GET /price', { pizza: 'hawaiana', size: 'grande' }).status).toBe(422)
  })
})

describe('an order', () => {
  it('an order has a number and is placed once per key', () => {
    const { pizzeria, order } = kitchen()
    const first = order(MARGARITA, 'k')
    expect(first).toMatchObject({ status: 201, body: { number: '101', price: 24 } })
    expect(order(MARGARITA, 'k')).toEqual(first)
    expect(order(MARGARITA).body.number).toBe('102')
    expect(pizzeria.orders.map(made => made.count)).toEqual([2, 2])
  })

  it.each([
    { ...MARGARITA, pizza: 'piedra' },
    { ...MARGARITA, address: ' ' },
    { ...MARGARITA, count: '0' },
    { ...MARGARITA, count: 'muchas' },
    { ...MARGARITA, count: 1e9 },
    { ...MARGARITA, pizza: { length: 3 } },
  ])('an order of %o is refused', body => {
    const { pizzeria, order } = kitchen()
    expect(order(body).status).toBe(422)
    expect(pizzeria.orders).toEqual([])
  })

  it('an order of a sold-out pizza is refused', () => {
    expect(kitchen(['vegetal']).order({ ...MARGARITA, pizza: 'vegetal' })).toEqual({
      status: 409,
      body: { message: 'Hoy ya no queda vegetal.' },
    })
  })

  it('an order is baked, then on its way, then delivered', () => {
    const { clock, get, order } = kitchen()
    order(MARGARITA)
    const state = () => get('GET /orders', { said: 'el 101' }).body.state
    expect(state()).toBe('en el horno')
    clock.now += 15 * MINUTE
    expect(state()).toBe('en camino')
    clock.now += 15 * MINUTE
    expect(state()).toBe('entregado')
  })

  it('the oldest order is dropped beyond the limit', () => {
    const { pizzeria, order } = kitchen()
    for (let n = 0; n < 600; n++) order(MARGARITA)
    expect([pizzeria.orders.length, pizzeria.orders[0]?.number]).toEqual([500, '201'])
  })
})
