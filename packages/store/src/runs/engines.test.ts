import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

describe('engines', () => {
  it('engines are listed while their heartbeats arrive', async () => {
    const { engines } = test.database.runs
    await engines.register({ engine_id: 'e-9', addresses: { sip: '10.0.0.1:5061' }, capacity: 40 })
    expect(await engines.heartbeat('e-9', 3, true)).toBe(true)
    expect(await engines.present(60_000)).toMatchObject([
      { engine_id: 'e-9', addresses: { sip: '10.0.0.1:5061' }, capacity: 40, live: 3, draining: true },
    ])
    expect(await engines.forgetSilent(60_000)).toEqual([])
    await test.owner.query("update parley.engines set heartbeat_at = now() - interval '2 minutes'")
    expect(await engines.present(60_000)).toEqual([])
    expect(await engines.forgetSilent(60_000)).toEqual(['e-9'])
    expect(await engines.heartbeat('e-9', 3, true)).toBe(false)
    await engines.register({ engine_id: 'e-9', addresses: {}, capacity: 1 })
    await engines.forget('e-9')
    expect(await engines.present(60_000)).toEqual([])
  })
})
