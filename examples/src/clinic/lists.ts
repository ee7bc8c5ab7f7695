/** "one", "one or two", "one, two or three". */
export function orList(items: readonly string[]): string {
  return items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`
}

/** The keys for a number of offers: "1, 2 or 3". */
export function keysFor(count: number): string {
  return orList(Array.from({ length: count }, (_, index) => String(index + 1)))
}
