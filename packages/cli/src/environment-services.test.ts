import { randomBytes } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { FakeOpenAiChat } from '@parley/fakes'
import { systemTime, VirtualTime } from '@parley/kernel'
import { deleteProviderKey, MasterKeySealer, putProviderKey } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ApiCatalogue } from './api-catalogue.ts'
import { readSettings } from './environment.ts'
import { EnvironmentServices } from './environment-services.ts'
import { Services } from './services.ts'

const MODEL = 'openai/gpt-4.1-mini'

let test: TestDatabase
let chat: FakeOpenAiChat
let scope: Scope
let services: Services
let own: EnvironmentServices
const sealer = new MasterKeySealer(new Map([[1, randomBytes(32)]]))
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  test = await testDatabase()
  chat = await FakeOpenAiChat.open()
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
  await chat?.close()
  await test?.close()
})
beforeEach(async () => {
  scope = await test.scope()
  open({ OPENAI_API_KEY: 'the-platform' })
})

/** Services of a platform whose OpenAI is the fake. */
function open(environment: Record<string, string>): void {
  const settings = readSettings({ OPENAI_BASE_URL: chat.baseUrl, ...environment })
  services = new Services(settings)
  own = new EnvironmentServices({ services, settings, database: test.database, sealer, time: systemTime })
  const [of, all] = [own, services]
  closers.push(async () => {
    await of.close()
    await all.close()
  })
}

const store = (key: string, to: { provider?: 'openai' | 'openai_compatible' | 'deepgram'; endpoint?: string } = {}) =>
  test.database.transaction(scope, tx =>
    putProviderKey(tx, scope, sealer, { provider: 'openai', endpoint: null, models: ['m-1'], key, ...to }),
  )
/** The key that a request of the model carries. */
async function keyUsed(by: Services, id = MODEL): Promise<string | null | undefined> {
  const request = { messages: [{ role: 'user' as const, content: 'Hi' }] }
  for await (const _event of by.model(id).generate(request, new AbortController().signal));
  return chat.requests.at(-1)?.key
}

describe('the services of an environment', () => {
  it('the services of an environment are those of the platform until it stores a key, which then wins for new runs', async () => {
    expect(await own.of(scope)).toBe(services)
    await store('its-own')
    expect(await keyUsed(await own.of(scope))).toBe('its-own')
    expect(await keyUsed(services)).toBe('the-platform')
    expect(await own.of(await test.scope())).toBe(services)
  })

  it('the services of an environment follow a replaced key, and a run keeps the services that it began with', async () => {
    await store('the-first')
    const first = await own.of(scope)
    expect(await own.of(scope)).toBe(first)
    await store('the-second')
    const second = await own.of(scope)
    expect(await keyUsed(second)).toBe('the-second')
    expect(await keyUsed(first)).toBe('the-first')
  })

  it('the services of an environment are those of the platform again after the key is deleted', async () => {
    await store('its-own')
    await own.of(scope)
    await test.database.transaction(scope, tx => deleteProviderKey(tx, scope, 'openai'))
    expect(await keyUsed(await own.of(scope))).toBe('the-platform')
  })

  it('the services of an environment share the services of other vendors and of this machine', async () => {
    await store('its-own')
    const with_ = await own.of(scope)
    expect(with_.model('parley/rules-1')).toBe(services.model('parley/rules-1'))
    expect(with_.model(MODEL)).not.toBe(services.model(MODEL))
  })

  it('the services of an environment are opened once for runs that begin at the same time', async () => {
    await store('its-own')
    expect(new Set(await Promise.all(Array.from({ length: 10 }, () => own.of(scope)))).size).toBe(1)
  })

  it('the services of an environment make a model ready that the platform has no key for, in that environment only', async () => {
    open({})
    await store('its-own')
    const catalogue = await ApiCatalogue.open(services, systemTime)
    try {
      const readyIn = async (of: Scope) => {
        const { models } = await catalogue.of(await own.of(of))
        return models.filter(({ ready, provider }) => ready && provider === 'hosted').map(({ model }) => model.model_id)
      }
      expect(await readyIn(scope)).toEqual([
        'gpt-4.1-mini',
        'gpt-realtime',
        'gpt-realtime-mini',
        'text-embedding-3-small',
        'text-embedding-3-large',
      ])
      expect(await readyIn(await test.scope())).toEqual([])
      expect(await keyUsed(await own.of(scope))).toBe('its-own')
      expect(() => services.model(MODEL)).toThrow('OPENAI_API_KEY')
    } finally {
      catalogue.close()
    }
  })
})

describe('replaced services', () => {
  /** The services that are closed, as they are. */
  const closing = async (limits: Partial<ConstructorParameters<typeof EnvironmentServices>[0]>) => {
    const time = new VirtualTime()
    const settings = readSettings({ OPENAI_BASE_URL: chat.baseUrl })
    const all = new Services(settings)
    const of = new EnvironmentServices({ services: all, settings, database: test.database, sealer, time, ...limits })
    closers.push(async () => {
      await of.close()
      await all.close()
    })
    const closed: string[] = []
    const replace = async (name: string, within = scope) => {
      await test.database.transaction(within, tx =>
        putProviderKey(tx, within, sealer, { provider: 'openai', endpoint: null, models: [], key: name }),
      )
      const made = await of.of(within)
      const close = made.close.bind(made)
      made.close = () => {
        closed.push(name)
        return close()
      }
    }
    return { time, closed, replace }
  }

  it('replaced services are kept for runs that began with them, a few of each environment, the newest', async () => {
    const { closed, replace } = await closing({ maxRetiredOfOne: 2 })
    for (const name of ['a', 'b', 'c']) await replace(name)
    expect(closed).toEqual([])
    await replace('d')
    expect(closed).toEqual(['a'])
    await replace('e')
    expect(closed).toEqual(['a', 'b'])
  })

  it('replaced services are bounded over all environments, and the oldest of the environment that has the most goes first', async () => {
    const { closed, replace } = await closing({ maxRetiredOfOne: 3, maxRetired: 4 })
    const other = await test.scope()
    for (const name of ['x', 'y']) await replace(name, other)
    for (const name of ['a', 'b', 'c', 'd']) await replace(name)
    expect(closed).toEqual([])
    await replace('z', other)
    expect(closed).toEqual(['a'])
  })

  it('replaced services are closed after the longest call at the latest', async () => {
    const { time, closed, replace } = await closing({})
    for (const name of ['a', 'b']) await replace(name)
    time.advance(24 * 3_600_000)
    expect(closed).toEqual([])
    time.advance(2 * 3_600_000)
    expect(closed).toEqual(['a'])
  })
})

describe('an OpenAI-compatible service of an environment', () => {
  it('an OpenAI-compatible service is reached at its endpoint if the operator allows that address', async () => {
    const port = new URL(chat.origin).port
    open({ PARLEY_EGRESS_ALLOW: `localhost:${port}` })
    await store('its-own', { provider: 'openai_compatible', endpoint: `http://localhost:${port}/v1` })
    expect(await keyUsed(await own.of(scope), 'openai_compatible/m-1')).toBe('its-own')
    expect(await keyUsed(await own.of(scope), 'openai_compatible/of-another-name')).toBe('its-own')
  })

  it('an OpenAI-compatible service is not reached if its name resolves to a private address', async () => {
    const { port } = new URL(chat.origin)
    await store('its-own', { provider: 'openai_compatible', endpoint: `http://localhost:${port}/v1` })
    const before = chat.requests.length
    await expect(keyUsed(await own.of(scope), 'openai_compatible/m-1')).rejects.toThrow()
    expect(chat.requests).toHaveLength(before)
  })

  it('an OpenAI-compatible service is not reached at an IP address that the operator no longer allows', async () => {
    const endpoint = `http://127.0.0.1:${new URL(chat.origin).port}/v1`
    await store('its-own', { provider: 'openai_compatible', endpoint })
    const before = chat.requests.length
    await expect(keyUsed(await own.of(scope), 'openai_compatible/m-1')).rejects.toThrow()
    expect(chat.requests).toHaveLength(before)
    open({ PARLEY_EGRESS_ALLOW: new URL(endpoint).host })
    expect(await keyUsed(await own.of(scope), 'openai_compatible/m-1')).toBe('its-own')
  })
})
