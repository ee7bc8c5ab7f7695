import { text } from '@parley/nodes'
import { z } from 'zod'

const limit = z.int().min(1).max(200).default(50)

/** The query of a list: its filters, `cursor` (opaque, at most `cursorLength` characters) and `limit` (1..200, 50). */
export function listQuery<Filters extends z.core.$ZodLooseShape>(filters: Filters, cursorLength = 1024) {
  return z.strictObject({ ...filters, cursor: text(0, cursorLength).optional(), limit })
}

/** One page: `next_cursor` is null on the last. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ items: z.array(item), next_cursor: text(0, 1024).nullable() })
}
