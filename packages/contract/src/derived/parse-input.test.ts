import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { operations } from '../operations.ts'
import { operationOf } from '../testing/requests.ts'
import { jsonPointer, parseInput } from './parse-input.ts'

const edit = operationOf('drafts.edit')
const params = { agent_id: 'a' }
const head = { draft_id: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f', expected_revision: 1 }

function issuesOf(body: unknown) {
  const parsed = parseInput(edit, { params, body })
  return parsed.ok ? [] : parsed.issues
}

describe('issues of a refused request', () => {
  it('each issue has a JSON pointer to the fault and a message', () => {
    const edits = [{ type: 'flow.prompt', text: 'x' }, { type: 'agent.settings', values: { volume: 3 } }, { type: 'x' }]
    expect(issuesOf({ ...head, edits }).map(({ path }) => path)).toEqual(['/edits/1/values/volume', '/edits/2/type'])
    expect(issuesOf({ ...head })).toEqual([{ path: '/edits', message: 'body: is missing' }])
    expect(jsonPointer(['a/b', 'm~n', 0])).toBe('/a~1b/m~0n/0')
  })

  it('invalid characters of a member name are replaced in the issue', () => {
    const none = operationOf('trunks.delete')
    const parsed = parseInput(none, { params: { trunk_id: 'a' }, body: { '\0': 1, '\ud800': 1 } })
    expect(parsed).toEqual({
      ok: false,
      issues: ['/\ufffd', '/\ufffd'].map(path => ({ path, message: expect.any(String) })),
    })
  })

  it('each unknown field of a request is reported as an issue of its own', () => {
    const edits = [{ type: 'agent.settings', values: { volume: 1, 'a/b': 1, loud: true } }]
    expect(issuesOf({ ...head, edits, more: 1 })).toEqual([
      { path: '/edits/0/values/a~1b', message: 'body: is not a known field; remove it or check the spelling' },
      { path: '/edits/0/values/loud', message: 'body: is not a known field; remove it or check the spelling' },
      { path: '/more', message: 'body: is not a known field; remove it or check the spelling' },
    ])
    const settings = parseInput(operationOf('tenant_settings.get'), { query: { limit: 5 } })
    expect(settings).toMatchObject({ ok: false, issues: [{ path: '/limit' }] })
  })

  it('a missing body is one issue', () =>
    expect(issuesOf(undefined)).toEqual([{ path: '', message: 'body: is missing' }]))

  it('a missing idempotency key is an issue', () => {
    const parsed = parseInput(operationOf('keys.rotate'), { params: { key_id: head.draft_id } })
    expect(parsed).toEqual({ ok: false, issues: [{ path: '', message: 'Idempotency-Key: is missing' }] })
  })

  it('forbidden characters and names are reported before faults of the schema', () => {
    expect(issuesOf({ ...head, edits: [{ type: 'flow.prompt', text: 'a\0' }] })[0]?.path).toBe('/edits/0/text')
    expect(
      issuesOf({ ...head, edits: JSON.parse('[{"type":"flow.variables","values":{"__proto__":"x"}}]') })[0]?.path,
    ).toBe('/edits/0/values')
  })

  it('at most 50 issues of at most 512 characters are reported', () => {
    const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`member_${n}`, n]))
    const edits = Array.from({ length: 100 }, () => ({ type: 'agent.settings', values: { volume: 3, ...unknown } }))
    const issues = issuesOf({ ...head, edits })
    expect(issues).toHaveLength(50)
    for (const { message } of issues) expect(message.length).toBeLessThanOrEqual(512)
  })

  it('parameters, query and body are refused if the operation has none', () => {
    const list = operationOf('environments.list')
    expect(parseInput(list, {}).ok).toBe(true)
    expect(parseInput(list, { query: {}, params: {} }).ok).toBe(true)
    expect(parseInput(list, { query: { limit: 5 } }).ok).toBe(false)
    expect(parseInput(list, { body: [1] }).ok).toBe(false)
  })
})

describe('arbitrary input', () => {
  it('arbitrary input is accepted or refused with at least one issue; parsing never throws', () => {
    const anything = fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.anything({ maxDepth: 3 }))
    fc.assert(
      fc.property(fc.constantFrom(...operations), anything, anything, anything, (operation, params, query, body) => {
        const parsed = parseInput(operation, { params, query, body, idempotencyKey: 'key-0001' })
        if (!parsed.ok) expect(parsed.issues.length).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
  })
})
