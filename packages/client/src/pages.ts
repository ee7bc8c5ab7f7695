import type { AnyRequest } from './http-request.ts'

/** Every row from the page that `request` asks for on. Throws `TypeError` when a server answers no page, or one twice. */
export async function* rowsOfAllPages(
  ask: (request: AnyRequest) => Promise<unknown>,
  rows: string,
  request: AnyRequest = {},
): AsyncIterableIterator<unknown> {
  let cursor = request.query?.cursor
  for (;;) {
    const page = (await ask({ ...request, query: { ...request.query, cursor } })) as Readonly<Record<string, unknown>>
    const found = page?.[rows]
    const next = page?.next_cursor
    if (!Array.isArray(found) || !(next === null || typeof next === 'string'))
      throw new TypeError(`the answer is no page: ${rows} and next_cursor are missing`)
    yield* found
    if (next === null) return
    if (next === cursor) throw new TypeError('the server answers the same page again and again')
    cursor = next
  }
}
