import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openWholeApi, type WholeApi } from '../testing/index.ts'
import { chatBody } from '../testing/valid-requests.ts'

let api: WholeApi
beforeAll(async () => {
  api = await openWholeApi()
})
afterAll(() => api?.close())

const capacity = (value: number) =>
  api.db.owner.query('update parley.tenants set concurrent_capacity = $2 where tenant_id = $1', [
    api.scope.tenant_id,
    value,
  ])

const stored = async (key: string) => {
  const { rows } = await api.db.owner.query(
    `select (select count(*)::int from parley.runs where tenant_id = $1) as runs,
       (select count(*)::int from parley.idempotency where tenant_id = $1 and key = $2) as answers,
       (select live from parley.run_counters where tenant_id = $1) as live,
       (select array_agg(array[outcome, resource_id] order by occurred_at, audit_id) from parley.audit
         where tenant_id = $1 and action = 'runs.create') as audit`,
    [api.scope.tenant_id, key],
  )
  return rows[0]
}

it('an admission that is refused with its answer already made stores nothing of it, and the same key admits the run later', async () => {
  const body = await chatBody(api.world)
  await capacity(0)
  const refused = await api.send('runs.create', { body }, { idempotencyKey: 'first' })
  expect(refused.status).toBe(429)
  expect(refused.body.error).toMatchObject({
    code: 'rate_limited',
    details: { limit: 0, used: 0, retry_after_seconds: 1 },
  })
  expect(await stored('first')).toMatchObject({ runs: 0, answers: 0, audit: [['failed', null]] })
  await capacity(10)
  const admitted = await api.send('runs.create', { body }, { idempotencyKey: 'first' })
  expect(admitted.status).toBe(201)
  const { run_id, created_at } = admitted.body
  expect(await stored('first')).toEqual({
    runs: 1,
    answers: 1,
    live: 1,
    audit: [
      ['failed', null],
      ['allowed', run_id],
    ],
  })
  const again = await api.send('runs.create', { body }, { idempotencyKey: 'first' })
  expect([again.status, again.body]).toEqual([200, admitted.body])
  const read = await api.send('runs.get', { params: { run_id } })
  expect(read.body).toMatchObject({ run_id, created_at })
})

it('of many admissions at once exactly as many are admitted as there is room for', async () => {
  const body = await chatBody(api.world)
  const { live } = await stored('none')
  await capacity(live + 5)
  const answers = await Promise.all(Array.from({ length: 30 }, () => api.send('runs.create', { body })))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(201), ...Array(25).fill(429)])
  expect((await stored('none')).live).toBe(live + 5)
})

it('a run is admitted in two round trips to the database, and a repetition is answered in two', async () => {
  const body = await chatBody(api.world)
  await capacity(1000)
  await api.send('runs.create', { body })
  const sent = vi.spyOn(pg.Client.prototype, 'query')
  const roundTrips = async (idempotencyKey: string) => {
    sent.mockClear()
    const { status } = await api.send('runs.create', { body }, { idempotencyKey })
    return [status, sent.mock.calls.length]
  }
  try {
    expect(await roundTrips('counted')).toEqual([201, 2])
    expect(await roundTrips('counted')).toEqual([200, 2])
  } finally {
    sent.mockRestore()
  }
})
