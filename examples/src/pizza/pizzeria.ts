import type { Ms, UnixMs } from '@parley/kernel'
import { AnswersByKey } from '../service/answers-by-key.ts'
import { CappedMap } from '../service/capped-map.ts'
import { type Service, type ServiceAnswer, type ServiceRequest, textOf } from '../service/service.ts'
import { type Dish, dishOf, nameOf, PIZZAS, type Pizza, priceOf, SIZES } from './menu.ts'

export interface Order extends Dish {
  readonly number: string
  readonly address: string
  readonly orderedAt: UnixMs
}

const MAX_ORDERS = 500
const FIRST_ORDER = 101
const MINUTE: Ms = 60_000
const BAKED_AFTER: Ms = 10 * MINUTE
const DELIVERED_AFTER: Ms = 30 * MINUTE

/** The pizzeria's kitchen: menu, prices, orders and their state. State is in memory; messages are in Spanish. */
export class Pizzeria implements Service {
  readonly operations = {
    'GET /menu': () => this.#menu(),
    'GET /price': (request: ServiceRequest) => this.#price(request),
    'POST /orders': (request: ServiceRequest) => this.#answers.once(request, () => this.#order(request)),
    'GET /orders': (request: ServiceRequest) => this.#status(request),
  }
  readonly refusals = {
    unknown: 'La pizzería no sabe qué es eso.',
    unreadable: 'La pizzería no ha podido leer eso.',
    tooLarge: 'Eso es demasiado largo para la pizzería.',
    broken: 'La pizzería tiene un problema.',
  }
  readonly #wallClock: () => UnixMs
  readonly #soldOut: ReadonlySet<string>
  readonly #answers = new AnswersByKey('Eso ya se ha pedido de otra manera.')
  readonly #orders = new CappedMap<string, Order>(MAX_ORDERS)
  #ordered = 0

  /** `soldOut`: pizzas that cannot be ordered. */
  constructor(wallClock: () => UnixMs, soldOut: readonly Pizza[]) {
    this.#wallClock = wallClock
    this.#soldOut = new Set(soldOut)
  }

  /** Oldest first. */
  get orders(): readonly Order[] {
    return this.#orders.values()
  }

  #menu(): ServiceAnswer {
    const pizzas = PIZZAS.filter(pizza => !this.#soldOut.has(pizza))
    const names = `${pizzas.slice(0, -1).join(', ')} y ${pizzas.at(-1)}`
    return ok({ pizzas, sizes: SIZES, message: `Tenemos ${names}.` })
  }

  #price({ query }: ServiceRequest): ServiceAnswer {
    const dish = dishIn(member => query.get(member))
    if (dish === undefined) return refused('Eso no está en la carta.')
    const price = priceOf(dish)
    const name = nameOf(dish)
    return ok({ ...dish, price, name, message: `${capital(name)}: ${price} euros.` })
  }

  #order({ body }: ServiceRequest): ServiceAnswer {
    const dish = dishIn(member => body[member])
    const address = textOf(body.address)
    if (dish === undefined) return refused('Eso no está en la carta.')
    if (address === '') return refused('Falta la dirección.')
    if (this.#soldOut.has(dish.pizza)) return { status: 409, body: { message: `Hoy ya no queda ${dish.pizza}.` } }
    const number = String(FIRST_ORDER + this.#ordered++)
    this.#orders.set(number, { ...dish, number, address, orderedAt: this.#wallClock() })
    const message = `Su pedido es el ${number}. Llega en treinta minutos.`
    return { status: 201, body: { number, price: priceOf(dish), message } }
  }

  #status({ query }: ServiceRequest): ServiceAnswer {
    const number = (textOf(query.get('key')) || textOf(query.get('said'))).replace(/\D/g, '')
    const order = this.#orders.get(number)
    if (order === undefined) return ok({ found: false, message: 'No encuentro ese pedido.' })
    const age = this.#wallClock() - order.orderedAt
    const state = age < BAKED_AFTER ? 'en el horno' : age < DELIVERED_AFTER ? 'en camino' : 'entregado'
    return ok({ found: true, number, state, message: `Su pedido está ${state}.` })
  }
}

function dishIn(member: (name: string) => unknown): Dish | undefined {
  return dishOf(textOf(member('pizza')), textOf(member('size')), textOf(member('count')))
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function ok(body: ServiceAnswer['body']): ServiceAnswer {
  return { status: 200, body }
}

function refused(message: string): ServiceAnswer {
  return { status: 422, body: { message } }
}
