import type { Json } from '@parley/contract'
import { type CursorBinding, decodeCursor, encodeCursor, type Page } from '@parley/store'

interface PageRequest {
  readonly cursor?: string | undefined
  readonly limit: number
}

/**
 * A page of rows in memory, in the order of their keys, so that a cursor stays valid when rows come and go between two
 * requests. Keys must be unique and must not change. Throws `invalid_cursor`.
 */
export function pageByKey<Row>(
  all: readonly Row[],
  keyOf: (row: Row) => readonly string[],
  binding: Omit<CursorBinding, 'sort'> & { readonly filters: Readonly<Record<string, Json | undefined>> },
  { cursor, limit }: PageRequest,
): Page<Row> {
  const bound = { ...binding, sort: 'key' }
  const keyed = all.map(row => ({ row, key: JSON.stringify(keyOf(row)) })).sort((a, b) => compare(a.key, b.key))
  const [after] = cursor === undefined ? [] : decodeCursor(bound, [{ type: 'text' }], cursor)
  const later = after === undefined ? keyed : keyed.filter(({ key }) => compare(key, String(after)) > 0)
  const page = later.slice(0, limit)
  const last = page.at(-1)
  const next_cursor = last === undefined || later.length <= limit ? null : encodeCursor(bound, [last.key])
  return { rows: page.map(({ row }) => row), next_cursor }
}

/** Compares UTF-16 units, so that the order does not depend on the locale. */
function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
