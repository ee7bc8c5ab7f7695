import type { KeyHolder } from '@parley/store'
import { localBus } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHandlers } from '../handlers/keys.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'
import { SILENT_BUS } from '../testing/silent-bus.ts'
import { CredentialCache } from './credential-cache.ts'

const HOLDER: KeyHolder = {
  key_id: 'key-1',
  secret_hash: Buffer.alloc(32),
  role: 'admin',
  can_dial: true,
  scope: { owner_id: 'o', environment: 'production', tenant_id: 't' },
  valid_until: null,
  rate: null,
}

/** A cache over a database that answers with `answer`, on a clock of its own. */
function cacheOver(answer: () => Promise<KeyHolder | null>) {
  const clock = { now: 1_000_000 }
  const bus = localBus()
  let lookups = 0
  const touched: string[][] = []
  const database = {
    keyOf: () => {
      lookups += 1
      return answer()
    },
    touchKeys: async (ids: readonly string[]) => void touched.push([...ids]),
    people: {
      sessionOf: async () => null,
      touchSessions: async () => {},
      linkOf: async () => null,
      membersOf: async () => [],
    },
  }
  const cache = new CredentialCache({ database, bus, now: () => clock.now, onTouchFailed: () => {} })
  const may = () => true
  return {
    clock,
    bus,
    cache,
    touched,
    lookups: () => lookups,
    holderOf: (secret = 's'.repeat(20)) => cache.holderOf({ key: secret }, may),
  }
}

describe('the cache of API keys', () => {
  it('a known secret is looked up once in 5 s, for any number of requests', async () => {
    const { clock, holderOf, lookups } = cacheOver(async () => HOLDER)
    await Promise.all([holderOf(), holderOf(), holderOf()])
    clock.now += 4999
    expect(await holderOf()).toBe(HOLDER)
    expect(lookups()).toBe(1)
    clock.now += 1
    await holderOf()
    expect(lookups()).toBe(2)
  })

  it('an unknown secret is looked up once in 2 s', async () => {
    const { clock, holderOf, lookups } = cacheOver(async () => null)
    expect([await holderOf(), await holderOf()]).toEqual([null, null])
    expect(lookups()).toBe(1)
    clock.now += 2001
    await holderOf()
    expect(lookups()).toBe(2)
  })

  it('a key that changes during its lookup is not cached', async () => {
    const answers: ((holder: KeyHolder | null) => void)[] = []
    const { cache, holderOf, lookups } = cacheOver(() => new Promise(resolve => answers.push(resolve)))
    const before = holderOf()
    cache.invalidate('key-1')
    const after = holderOf()
    expect(lookups()).toBe(2)
    answers[1]!(null)
    answers[0]!(HOLDER)
    expect(await after).toBeNull()
    await before
    expect(await holderOf()).toBeNull()
  })

  it.each(['keys', 'tenants'] as const)('a key is looked up again when the bus reports %s', async topic => {
    const { bus, holderOf, lookups } = cacheOver(async () => HOLDER)
    await holderOf()
    bus.publish(topic, topic === 'keys' ? 'key-1' : 't')
    await holderOf()
    bus.publish(topic, 'another')
    await holderOf()
    expect(lookups()).toBe(2)
  })

  it('a cached key expires with the overlap of its rotation', async () => {
    const { clock, holderOf } = cacheOver(async () => ({ ...HOLDER, valid_until: new Date(1_001_000).toISOString() }))
    expect(await holderOf()).not.toBeNull()
    clock.now += 1000
    expect(await holderOf()).toBeNull()
  })

  it('an unknown secret is not looked up for an address that has used up its rate limit', async () => {
    const { cache, lookups, clock, holderOf } = cacheOver(async () => HOLDER)
    expect(await cache.holderOf({ key: 't'.repeat(20) }, () => false)).toBe('withheld')
    expect(lookups()).toBe(0)
    await holderOf()
    clock.now += 60_000
    // Known before: it is looked up again whatever its address did.
    expect(await cache.holderOf({ key: 's'.repeat(20) }, () => false)).toBe(HOLDER)
  })

  it('the last use of a key is stored', async () => {
    const { cache, touched, holderOf } = cacheOver(async () => HOLDER)
    await holderOf()
    await holderOf()
    await cache.close()
    expect(touched).toEqual([['key-1']])
  })
})

describe('a revoked key', () => {
  const bus = localBus()
  let api: PipelineApi
  let other: PipelineApi
  let withoutBus: PipelineApi

  beforeAll(async () => {
    api = await pipelineApi(keyHandlers, { bus })
    other = await pipelineApi(keyHandlers, { bus, db: api.db })
    withoutBus = await pipelineApi(keyHandlers, { bus: SILENT_BUS, db: api.db })
  })
  afterAll(async () => {
    await other?.close()
    await withoutBus?.close()
    await api?.close()
  })

  it('a revoked key is refused at once in every process', async () => {
    const { secret, key_id } = await api.newKey('admin')
    const uses = () =>
      Promise.all([api, other, withoutBus].map(one => one.request('GET', '/api/v1/keys', { key: secret })))
    expect((await uses()).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await api.request('DELETE', `/api/v1/keys/${key_id}`)).status).toBe(200)
    // A process that receives no messages uses its cached entry for up to 5 s.
    expect((await uses()).map(({ status }) => status)).toEqual([401, 401, 200])
  })

  it('a key may revoke itself', async () => {
    const { secret, key_id } = await api.newKey('admin')
    expect((await api.request('DELETE', `/api/v1/keys/${key_id}`, { key: secret })).status).toBe(200)
    expect((await api.request('GET', '/api/v1/keys', { key: secret })).status).toBe(401)
  })

  it('rotation without overlap replaces the secret at once in every process', async () => {
    const { secret, key_id } = await api.newKey('admin')
    const rotated = await api.request('POST', `/api/v1/keys/${key_id}/rotate`, {
      key: secret,
      idempotencyKey: 'rotate',
      body: {},
    })
    expect((await api.request('GET', '/api/v1/keys', { key: secret })).status).toBe(401)
    expect((await api.request('GET', '/api/v1/keys', { key: rotated.body.secret })).status).toBe(200)
  })
})
