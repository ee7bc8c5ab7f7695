import type { Scope } from '@parley/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AuditRow, listAudit, writeAudit } from './audit.ts'
import { decodeCursor, encodeCursor, type KeysetColumn, readPage } from './keyset.ts'
import { type TestDatabase, testDatabase } from './testing/index.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const binding = { operation: 'x.list', tenantId: 't', filters: { q: 'a', channel: undefined }, sort: 'name_asc' }
const columns = [{ type: 'text' }, { type: 'instant' }, { type: 'uuid' }, { type: 'integer' }] as const
const position = ['Ünï "x"', '2026-01-02T03:04:05.678Z', '0199a2f0-0000-7000-8000-000000000000', -3]
const invalid = expect.objectContaining({ code: 'invalid_request', reason: 'invalid_cursor' })

describe('a cursor', () => {
  it('a cursor decodes to its position and needs no URL quoting', () => {
    const cursor = encodeCursor(binding, position)
    expect(cursor).toMatch(/^[\w-]+$/)
    expect(decodeCursor(binding, columns, cursor)).toEqual(position)
    expect(decodeCursor({ ...binding, filters: { q: 'a' } }, columns, cursor)).toEqual(position)
  })

  it.each([
    ['operation', { operation: 'y.list' }],
    ['environment', { tenantId: 'u' }],
    ['filters', { filters: { q: 'b' } }],
    ['a filter more', { filters: { q: 'a', channel: 'phone' } }],
    ['sort', { sort: 'name_desc' }],
  ])('a cursor of another %s is refused', (_what, change) => {
    expect(() => decodeCursor({ ...binding, ...change }, columns, encodeCursor(binding, position))).toThrow(invalid)
  })

  it.each([
    ['a number for a text', [1, position[1]!, position[2]!, 1]],
    ['no instant', ['a', '2026-13-45T00:00:00.000Z', position[2]!, 1]],
    ['a day that its month does not have', ['a', '2026-02-30T00:00:00.000Z', position[2]!, 1]],
    ['an hour that no day has', ['a', '2026-02-03T24:00:00.000Z', position[2]!, 1]],
    ['the year 0', ['a', '0000-02-03T00:00:00.000Z', position[2]!, 1]],
    ['an instant with more', ['a', "2026-01-02T03:04:05.678Z' or true", position[2]!, 1]],
    ['no uuid', ['a', position[1]!, 'x', 1]],
    ['a fraction', ['a', position[1]!, position[2]!, 1.5]],
    ['a NUL', ['\0', position[1]!, position[2]!, 1]],
    ['half a character', ['\ud800', position[1]!, position[2]!, 1]],
    ['too few', ['a']],
    ['too many', [...position, 1]],
  ])('a forged cursor with %s is refused', (_what, made) => {
    expect(() => decodeCursor(binding, columns, encodeCursor(binding, made))).toThrow(invalid)
  })

  it('random bytes are refused as a cursor', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.base64String()), text => {
        for (const cursor of [text, Buffer.from(text).toString('base64url')])
          expect(() => decodeCursor(binding, columns, cursor)).toThrow(invalid)
      }),
      { numRuns: 300 },
    )
  })
})

describe('pages', () => {
  const audit = (scope: Scope, request_id: string) =>
    test.database.transaction(scope, tx =>
      writeAudit(tx, scope, {
        principal: { owner_id: scope.owner_id, environment: scope.environment, kind: 'api_key', id: 'k' },
        action: 'agents.create',
        resource: { kind: 'agent', id: 'a' },
        outcome: 'allowed',
        request_id,
      }),
    )

  it('pages of the audit are sorted newest first and contain every entry', async () => {
    const scope = await test.scope()
    for (const id of ['r1', 'r2', 'r3']) {
      await audit(scope, id)
      // Of one millisecond, the order is that of the ids.
      await test.owner.query('select pg_sleep(0.002)')
    }
    const db = test.database.within(scope)
    const first = await listAudit(db, scope, { cursor: null, limit: 2 })
    expect(first.rows).toMatchObject([
      { request_id: 'r3', action: 'agents.create', resource_kind: 'agent', resource_id: 'a', outcome: 'allowed' },
      { request_id: 'r2', principal: { kind: 'api_key', id: 'k' } },
    ])
    const second = await listAudit(db, scope, { cursor: first.next_cursor, limit: 2 })
    expect(second).toMatchObject({ rows: [{ request_id: 'r1' }], next_cursor: null })
    const [r3, r2] = first.rows
    const between = await listAudit(db, scope, {
      after: r2!.occurred_at,
      before: r3!.occurred_at,
      cursor: null,
      limit: 9,
    })
    expect(between.rows.map(row => row.request_id)).toContain('r2')
    expect(between.rows.map(row => row.request_id)).not.toContain('r3')
    await expect(
      listAudit(db, scope, { after: r2!.occurred_at, cursor: first.next_cursor, limit: 2 }),
    ).rejects.toMatchObject({ reason: 'invalid_cursor' })
  })

  it.each([
    ['newest first, then id', 'desc', 'asc'],
    ['oldest first, then id', 'asc', 'asc'],
    ['newest first, then id backwards', 'desc', 'desc'],
  ] as const)(
    'pages of any size return every row of the first request exactly once, whatever is inserted meanwhile (%s)',
    async (_what, byTime, byId) => {
      const order: KeysetColumn<AuditRow>[] = [
        { column: 'occurred_at', type: 'instant', direction: byTime },
        { column: 'audit_id', type: 'uuid', direction: byId },
      ]
      const rows = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 14 })
      await fc.assert(
        fc.asyncProperty(rows, rows, fc.integer({ min: 1, max: 6 }), async (before, between, limit) => {
          const scope = await test.scope()
          const insert = (seconds: readonly number[]) =>
            test.owner.query(
              `insert into parley.audit (tenant_id, audit_id, occurred_at, principal, action, outcome)
             select $1, gen_random_uuid(), '2026-01-01Z'::timestamptz + s * interval '1 s', '{}', 'a', 'allowed' from unnest($2::int[]) s returning audit_id`,
              [scope.tenant_id, seconds],
            )
          const existed: string[] = (await insert(before)).rows.map(row => row.audit_id)
          const bound = { operation: 'audit.list', tenantId: scope.tenant_id, filters: {}, sort: 's' }
          const seen: { audit_id: string; occurred_at: string }[] = []
          const later = [...between]
          let cursor: string | null = null
          do {
            const query = test.database.within(scope).selectFrom('audit').selectAll()
            const page: { rows: AuditRow[]; next_cursor: string | null } = await readPage(query, order, bound, {
              cursor,
              limit,
            })
            expect(page.rows.length).toBeLessThanOrEqual(limit)
            seen.push(...page.rows)
            cursor = page.next_cursor
            if (later.length > 0) await insert(later.splice(0, 2))
          } while (cursor !== null)
          const ids = seen.map(row => row.audit_id)
          expect(new Set(ids).size).toBe(ids.length)
          expect(ids.filter(id => existed.includes(id)).sort()).toEqual([...existed].sort())
          const key = (row: { occurred_at: string }) => (byTime === 'asc' ? 1 : -1) * Date.parse(row.occurred_at)
          const compare = (a: (typeof seen)[number], b: (typeof seen)[number]) =>
            key(a) - key(b) || (a.audit_id < b.audit_id ? -1 : 1) * (byId === 'asc' ? 1 : -1)
          expect(seen).toEqual(seen.toSorted(compare))
        }),
        { numRuns: 15 },
      )
    },
  )
})
