import type { Plan } from '@parley/flow'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Catalogue } from '../catalogue.ts'
import type { Platform } from '../context.ts'
import { AgentFixture, everyPage, refusal } from '../testing/agent-fixture.ts'
import { TEST_CATALOGUE, testPlatform } from '../testing/test-platform.ts'

let test: TestDatabase
let fixture: AgentFixture
let catalogue: Catalogue = TEST_CATALOGUE
let rooms: Pick<Platform, 'webRooms'> = {}

beforeAll(async () => {
  test = await testDatabase()
  const platform = Object.defineProperty({ ...testPlatform(), catalogue: () => catalogue }, 'webRooms', {
    get: () => rooms.webRooms,
  })
  fixture = await AgentFixture.open(test, { platform })
})
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
    const everywhere = ['http.request', 'call.end', 'variables.extract', 'agent.swap', 'mcp.call', 'code.run']
    expect(await ids({ channel: 'cloud', invocation: 'flow_node' })).toEqual(everywhere)
    expect(await ids({ channel: 'web', invocation: 'model_tool' })).toEqual(everywhere)
    const byPhone = [...everywhere, 'call.transfer', 'call.press_digit', 'sms.send']
    expect(await ids({ channel: 'phone', invocation: 'model_tool' })).toEqual(byPhone)
    expect(await ids({ channel: 'phone', invocation: 'flow_node' })).toEqual(byPhone)
    expect(await ids({ channel: 'control' })).toEqual(['run.update', 'run.cancel'])
    expect(await ids({ channel: 'cloud', invocation: 'lifecycle' })).toEqual([
      'model.infer',
      'analysis.run',
      'webhook.send',
    ])
    expect(await ids({ channel: 'phone', invocation: 'command' })).toEqual(['call.dial', 'call.hangup'])
    expect(await ids({ invocation: 'setting' })).toEqual(['knowledge.search', 'inbound.context', 'voicemail.message'])
  })

  it('every kind of action that an agent can have is listed', async () => {
    const listed: Readonly<Record<Plan['actions'][number]['kind'], string>> = {
      http: 'http.request',
      end_call: 'call.end',
      extract_dynamic_variables: 'variables.extract',
      agent_swap: 'agent.swap',
      mcp: 'mcp.call',
      code: 'code.run',
      transfer_call: 'call.transfer',
      press_digit: 'call.press_digit',
      send_sms: 'sms.send',
    }
    const ids = (await fixture.call('actions.list', { query: { invocation: 'model_tool' } })).body.items
    expect(ids.map(({ id }: { id: string }) => id)).toEqual(Object.values(listed))
  })

  it('actions on rooms of LiveKit are listed where the platform has a server for them', async () => {
    const ids = async () =>
      (await fixture.call('actions.list', { query: { channel: 'web', invocation: 'command' } })).body.items.map(
        (action: { id: string }) => action.id,
      )
    expect(await ids()).toEqual([])
    rooms = { webRooms: { visitorAccess: async () => ({ url: 'wss://rooms.example', token: 't' }) } }
    expect(await ids()).toEqual(['room.create', 'room.delete'])
  })
})
