import { describe, expect, it } from 'vitest'
import { operationOf } from '../testing/requests.ts'
import { parseInput } from './parse-input.ts'
import { fromText, toText } from './text-input.ts'

function read(id: string, query: string) {
  const operation = operationOf(id)
  return parseInput(operation, { query: fromText(operation.query!, new URLSearchParams(query)) })
}

describe('a query string', () => {
  it('is read by what its members are', () => {
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
  ])('is refused with %s', query => expect(read('models.list', query).ok).toBe(false))

  it.each(['ready=1', 'ready=TRUE', 'ready=', 'limit=5&limit=5', 'nobody=knows', '__proto__=x'])(
    'is refused with %s as well',
    query => expect(read('models.list', query).ok).toBe(false),
  )

  it('is written as it is read', () => {
    const { query } = operationOf('audit.list')
    const asked = { cursor: 'a&b=c', limit: 7, after: '2026-01-01T00:00:00+01:00', before: undefined }
    const { before: _, ...given } = asked
    expect(fromText(query!, new URLSearchParams(new URLSearchParams(toText(asked)).toString()))).toEqual(given)
  })
})

describe('path arguments', () => {
  it('are read the same way', () => {
    const { params } = operationOf('publications.get')
    expect(fromText(params!, Object.entries({ agent_id: '7', version: '7' }))).toEqual({ agent_id: '7', version: 7 })
  })
})
