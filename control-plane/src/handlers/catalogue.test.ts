import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Catalogue } from '../catalogue.ts'
import { AgentFixture, everyPage, refusal } from '../testing/agent-fixture.ts'
import { TEST_CATALOGUE, testPlatform } from '../testing/test-platform.ts'

let test: TestDatabase
let fixture: AgentFixture
let catalogue: Catalogue = TEST_CATALOGUE

beforeAll(async () => {
  test = await testDatabase()
  fixture = await AgentFixture.open(test, { platform: { ...testPlatform(), catalogue: () => catalogue } })
}, 60_000)
afterAll(() => test?.close())

const names = async (query: object) =>
  (await fixture.call('voices.list', { query })).body.items.map((voice: { name: string }) => voice.name)

describe('GET /models', () => {
  it('models are listed with their readiness and the reason when they are not ready', async () => {
    const { items } = (await fixture.call('models.list')).body
    expect(items).toHaveLength(3)
    expect(items[0]).toMatchObject({ model: { provider: 'distant' }, ready: false, reason: 'no_key' })
    const ready = (await fixture.call('models.list', { query: { ready: true, kind: 'chat' } })).body.items
    expect(ready).toHaveLength(1)
    expect(ready[0]).toMatchObject({ kind: 'chat', model: { provider: 'near', model_id: 'near-1' } })
    expect((await fixture.call('models.list', { query: { kind: 'embedding' } })).body.items).toMatchObject([
      { model: { model_id: 'near-embedding-1' }, kind: 'embedding' },
    ])
  })
})

describe('GET /voices', () => {
  it('voices are filtered by role, provider and language', async () => {
    catalogue = {
      ...TEST_CATALOGUE,
      voices: [
        ...TEST_CATALOGUE.voices,
        { ...TEST_CATALOGUE.voices[3]!, voice_id: 'cleo', name: 'cleo', languages: ['es-419'] },
      ],
    }
    expect(await names({ role: 'stt' })).toEqual(['distant', 'near'])
    expect(await names({ role: 'tts', provider: 'near' })).toEqual(['bea', 'cleo'])
    expect(await names({ role: 'tts', language: 'ES' })).toEqual(['ann', 'bea', 'cleo'])
    expect(await names({ role: 'tts', language: 'es-419' })).toEqual(['cleo'])
    expect(await names({ role: 'tts', language: 'en' })).toEqual(['ann', 'bea'])
  })

  it('paging lists each voice once while providers appear and disappear', async () => {
    const voice = (name: string) => ({ ...TEST_CATALOGUE.voices[3]!, voice_id: name, name })
    const letters = [...'gacebfd'].map(voice)
    catalogue = { ...TEST_CATALOGUE, voices: letters }
    const query = { limit: 2, role: 'tts' }
    const seen = await everyPage<string>(
      async cursor => {
        const { items, next_cursor } = (
          await fixture.call('voices.list', { query: { ...query, ...(cursor && { cursor }) } })
        ).body
        return { items: items.map((item: { name: string }) => item.name), next: next_cursor }
      },
      async () => {
        catalogue = { ...catalogue, voices: [voice('0'), ...letters.toReversed()] }
      },
    )
    expect(seen).toEqual([...'abcdefg'])
    const { next_cursor: cursor } = (await fixture.call('voices.list', { query })).body
    const foreign = refusal('invalid_request', 'invalid_cursor')
    expect(await fixture.call('voices.list', { query: { cursor } })).toMatchObject(foreign)
    expect(await fixture.call('models.list', { query: { cursor } })).toMatchObject(foreign)
  })
})

describe('GET /actions', () => {
  it('actions are filtered by channel and by invocation', async () => {
    const ids = async (query: object) =>
      (await fixture.call('actions.list', { query })).body.items.map((action: { id: string }) => action.id)
    expect(await ids({})).toContain('http.request')
    expect(await ids({ channel: 'cloud', invocation: 'flow_node' })).toEqual([
      'http.request',
      'call.end',
      'variables.extract',
    ])
    expect(await ids({ channel: 'phone', invocation: 'model_tool' })).toContain('call.transfer')
    expect(await ids({ channel: 'control' })).toEqual(['run.update', 'run.cancel'])
    expect(await ids({ channel: 'cloud', invocation: 'lifecycle' })).toEqual([
      'model.infer',
      'analysis.run',
      'webhook.send',
    ])
    expect(await ids({ channel: 'phone', invocation: 'command' })).toEqual(['call.dial', 'call.hangup'])
    expect(await ids({ invocation: 'setting' })).toEqual(['knowledge.search', 'inbound.context'])
  })
})
