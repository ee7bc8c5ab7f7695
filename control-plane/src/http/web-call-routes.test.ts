import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_RATE_LIMITS } from '../pipeline/rate-limits.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

const RUN = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const VALID = `wt_${'a'.repeat(32)}`

let db: TestDatabase
let api: PipelineApi
let lookups = 0
beforeAll(async () => {
  db = await testDatabase()
  const scope = await db.scope()
  const callOf = async () => {
    lookups++
    return isKnown ? { scope, secret: 'token' as const } : null
  }
  const limits = { rates: { ...DEFAULT_RATE_LIMITS, address: { perSecond: 0.001, burst: 5 } } }
  const database = new Proxy(db.database, {
    get(target, name) {
      if (name === 'web') return { ...target.web, callOf }
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  api = await pipelineApi({}, { db, database, limits, platform: { now: () => 1_800_000_000_000 } })
})
afterAll(async () => {
  await api?.close()
  await db?.close()
})

let isKnown = true
beforeEach(() => {
  lookups = 0
})

const hangUp = async () => (await api.request('DELETE', `/web/runs/${RUN}`, { key: VALID })).status

describe('requests of a web call', () => {
  it('the holder of a token makes 60 requests at once and no more', async () => {
    const statuses: number[] = []
    for (let request = 0; request < 62; request++) statuses.push(await hangUp())
    expect(statuses.slice(0, 60)).toEqual(Array(60).fill(200))
    expect(statuses.slice(60)).toEqual([429, 429])
  })

  it('an address that presented too many unknown secrets is refused before another is looked up', async () => {
    isKnown = false
    for (let request = 0; request < 5; request++) expect(await hangUp()).toBe(401)
    expect(await hangUp()).toBe(429)
    expect(await hangUp()).toBe(429)
    expect(lookups).toBe(5)
  })
})
