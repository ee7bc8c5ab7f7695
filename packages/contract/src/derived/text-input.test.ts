import { describe, expect, it } from 'vitest'
import { operationOf } from '../testing/requests.ts'
import { parseInput } from './parse-input.ts'
import { fromText, toText } from './text-input.ts'

function read(id: string, query: string) {
  const operation = operationOf(id)
  return parseInput(operation, { query: fromText(operation.query!, new URLSearchParams(query)) })
}

describe('a query string', () => {
  it('query members become the numbers and booleans that their schema expects', () => {
    expect(read('models.list', 'ready=true&limit=200&kind=chat')).toMatchObject({
      ok: true,
      input: { query: { ready: true, limit: 200, kind: 'chat' } },
    })
    expect(read('agents.list', 'q=5')).toMatchObject({ ok: true, input: { query: { q: '5' } } })
  })

  it.each([
    'limit=',
    'limit=1e1',
    'limit=0x10',
    'limit=%207',
    'limit=007',
    'limit=50.0',
    'limit=201',
    'limit=99999999999999999',
  ])('a query string with %s is refused', query => expect(read('models.list', query).ok).toBe(false))

  it.each(['ready=1', 'ready=TRUE', 'ready=', 'limit=5&limit=5', 'nobody=knows', '__proto__=x'])(
    'a list request with the query string "%s" is refused',
    query => expect(read('models.list', query).ok).toBe(false),
  )

  it('a written query string is read back with the same values', () => {
    const { query } = operationOf('audit.list')
    const sent = { cursor: 'a&b=c', limit: 7, after: '2026-01-01T00:00:00+01:00', before: undefined }
    const { before: _, ...expected } = sent
    expect(fromText(query!, new URLSearchParams(new URLSearchParams(toText(sent)).toString()))).toEqual(expected)
  })
})

describe('path arguments', () => {
  it('path arguments become the numbers that their schema expects', () => {
    const { params } = operationOf('publications.get')
    expect(fromText(params!, Object.entries({ agent_id: '7', version: '7' }))).toEqual({ agent_id: '7', version: 7 })
  })
})
