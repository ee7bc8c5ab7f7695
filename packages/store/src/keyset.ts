import { hash } from 'node:crypto'
import { type Json, Refusal } from '@parley/contract'
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'

/** The type of a sort column: how it compares, and the form of its values in a cursor. */
type KeysetType = 'instant' | 'uuid' | 'text' | 'integer'

/** One column of a sort order, never null. The columns together are unique within the list. */
export interface KeysetColumn<Row> {
  readonly column: keyof Row & string
  readonly type: KeysetType
  readonly direction: 'asc' | 'desc'
}

/** The list that a cursor belongs to: a cursor of another list is refused. */
export interface CursorBinding {
  /** The operation's id. */
  readonly operation: string
  readonly tenantId: string
  /** As in the request; undefined ones are left out. */
  readonly filters: Readonly<Record<string, Json | undefined>>
  readonly sort: string
}

/** A row's place in a sort order: its values of the columns. */
type KeysetPosition = readonly (string | number)[]

/** The requested page of a list. */
export interface PageRequest {
  /** `next_cursor` of the page before; null: the first page. */
  readonly cursor: string | null
  readonly limit: number
}

export interface Page<Row> {
  readonly rows: Row[]
  /** Null on the last page. */
  readonly next_cursor: string | null
}

const VERSION = 1
const CASTS: Readonly<Record<KeysetType, RawBuilder<unknown>>> = {
  instant: sql`::timestamptz`,
  uuid: sql`::uuid`,
  text: sql`::text`,
  integer: sql`::bigint`,
}
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Makes an opaque cursor of URL-safe characters. */
export function encodeCursor(binding: CursorBinding, position: KeysetPosition): string {
  return Buffer.from(JSON.stringify([VERSION, digestOf(binding), ...position])).toString('base64url')
}

/** The position in a cursor. Throws the refusal `invalid_request` / `invalid_cursor` for a cursor that does not belong to this list. */
export function decodeCursor(
  binding: CursorBinding,
  columns: readonly Pick<KeysetColumn<never>, 'type'>[],
  cursor: string,
): KeysetPosition {
  const [version, digest, ...position] = readArray(cursor)
  const isOurs =
    version === VERSION &&
    digest === digestOf(binding) &&
    position.length === columns.length &&
    columns.every((column, index) => isOfType(column.type, position[index]))
  if (!isOurs)
    throw new Refusal('invalid_request', 'the cursor belongs to another list: start again without it', {
      reason: 'invalid_cursor',
    })
  return position as KeysetPosition
}

/** Whether a row comes after `position` in the order of `columns`: a condition that an index in this order can be searched by. */
export function isAfter<Row>(columns: readonly KeysetColumn<Row>[], position: KeysetPosition): RawBuilder<boolean> {
  const bounds = columns.map((column, index) => ({
    ref: sql.ref(column.column),
    direction: column.direction,
    value: sql`${position[index]}${CASTS[column.type]}`,
  }))
  const [first] = bounds
  if (first === undefined) throw new TypeError('a keyset has at least one column')
  if (bounds.every(bound => bound.direction === first.direction)) {
    const refs = sql.join(bounds.map(bound => bound.ref))
    const values = sql.join(bounds.map(bound => bound.value))
    return sql<boolean>`(${refs}) ${sql.raw(first.direction === 'asc' ? '>' : '<')} (${values})`
  }
  let later: RawBuilder<boolean> | undefined
  for (const { ref, direction, value } of bounds.toReversed()) {
    const beyond = sql<boolean>`${ref} ${sql.raw(direction === 'asc' ? '>' : '<')} ${value}`
    later = later === undefined ? beyond : sql<boolean>`(${beyond} or (${ref} = ${value} and ${later}))`
  }
  // A row comparison does not work with mixed directions; the condition on the first column lets Postgres use the index.
  return sql<boolean>`(${first.ref} ${sql.raw(first.direction === 'asc' ? '>=' : '<=')} ${first.value} and ${later})`
}

/** Runs `query`, which selects the columns of the keyset, for the page after `cursor` (null: the first). */
export async function readPage<DB, Tables extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Tables, Row>,
  columns: readonly KeysetColumn<Row>[],
  binding: CursorBinding,
  page: { readonly cursor: string | null; readonly limit: number },
): Promise<Page<Row>> {
  let rows = query.limit(page.limit + 1)
  if (page.cursor !== null) rows = rows.where(isAfter(columns, decodeCursor(binding, columns, page.cursor)))
  for (const { column, direction } of columns) rows = rows.orderBy(sql.ref(column), direction)
  return cutPage((await rows.execute()) as Row[], columns, binding, page.limit)
}

/** The page from up to `limit` + 1 rows; the extra row shows that there is another page. */
export function cutPage<Row>(
  found: readonly Row[],
  columns: readonly KeysetColumn<Row>[],
  binding: CursorBinding,
  limit: number,
): Page<Row> {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  if (found.length <= limit || last === undefined || last === null) return { rows, next_cursor: null }
  const position = columns.map(({ column }) => last[column] as string | number)
  return { rows, next_cursor: encodeCursor(binding, position) }
}

function digestOf(binding: CursorBinding): string {
  const filters = Object.entries(binding.filters)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const bound = JSON.stringify([binding.operation, binding.tenantId, binding.sort, filters])
  return hash('sha256', bound, 'base64url').slice(0, 22)
}

function readArray(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

/** Postgres refuses a day that its month does not have, which JavaScript takes for the next month's, and the year 0. */
function isInstant(value: string): boolean {
  if (!INSTANT.test(value) || value.startsWith('0000')) return false
  const time = Date.parse(value)
  return !Number.isNaN(time) && new Date(time).toISOString() === value
}

function isOfType(type: KeysetType, value: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value)
  // Postgres refuses NUL and lone surrogates in text.
  if (typeof value !== 'string' || value.includes('\0') || !value.isWellFormed()) return false
  if (type === 'instant') return isInstant(value)
  return type === 'text' || UUID.test(value)
}
