export const PIZZAS = ['margarita', 'pepperoni', 'barbacoa', 'vegetal'] as const
export const SIZES = ['pequeña', 'mediana', 'grande'] as const

export type Pizza = (typeof PIZZAS)[number]
type Size = (typeof SIZES)[number]

/** Euros, by size. */
const BASE: Readonly<Record<Size, number>> = { pequeña: 8, mediana: 10, grande: 12 }
const EXTRA: Readonly<Record<Pizza, number>> = { margarita: 0, pepperoni: 1, barbacoa: 2, vegetal: 1 }

export interface Dish {
  readonly pizza: Pizza
  readonly size: Size
  readonly count: number
}

const MAX_PIZZAS = 20

/** A dish as the caller's words give it; accents and case do not matter. Undefined: not on the menu. */
export function dishOf(pizza: string, size: string, count: string): Dish | undefined {
  const found = PIZZAS.find(candidate => plain(candidate) === plain(pizza))
  const measure = SIZES.find(candidate => plain(candidate) === plain(size))
  const number = count === '' ? 1 : Number(count)
  if (found === undefined || measure === undefined) return undefined
  return Number.isInteger(number) && number >= 1 && number <= MAX_PIZZAS
    ? { pizza: found, size: measure, count: number }
    : undefined
}

function plain(text: string): string {
  return text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
}

/** Euros. */
export function priceOf({ pizza, size, count }: Dish): number {
  return count * (BASE[size] + EXTRA[pizza])
}

/** "una pizza margarita grande", "2 pizzas margarita grandes" */
export function nameOf({ pizza, size, count }: Dish): string {
  return count === 1 ? `una pizza ${pizza} ${size}` : `${count} pizzas ${pizza} ${size}s`
}
