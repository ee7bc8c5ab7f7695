import type { AnyRequest } from './http-request.ts'

/**
 * All rows, beginning with the page of `request`. Throws `TypeError` if a response is not a page or repeats its cursor.
 */
export async function* rowsOfAllPages(
  call: (request: AnyRequest) => Promise<unknown>,
  rows: string,
  request: AnyRequest = {},
): AsyncIterableIterator<unknown> {
  let cursor = request.query?.cursor
  for (;;) {
    const page = (await call({ ...request, query: { ...request.query, cursor } })) as Readonly<Record<string, unknown>>
    const found = page?.[rows]
    const next = page?.next_cursor
    if (!Array.isArray(found) || !(next === null || typeof next === 'string'))
      throw new TypeError(`the response is not a page: it needs "${rows}" and "next_cursor"`)
    yield* found
    if (next === null) return
    if (next === cursor) throw new TypeError('the server returned the same cursor twice, so the list would not end')
    cursor = next
  }
}
