import type { OperationId, RawInput, Scope } from '@parley/contract'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callDirectly, type DirectCalls } from '../testing/direct-calls.ts'
import { testPlatform } from '../testing/test-platform.ts'
import { agentHandlers } from './agents.ts'
import { catalogueHandlers } from './catalogue.ts'
import { draftHandlers } from './drafts.ts'
import { publicationHandlers } from './publications.ts'

let test: TestDatabase
let scope: Scope
let calls: DirectCalls

beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  scope = await test.scope()
  const handlers = { ...agentHandlers, ...draftHandlers, ...publicationHandlers, ...catalogueHandlers }
  calls = { database: test.database, scope, platform: testPlatform(), handlers }
})

const call = (id: OperationId, raw: RawInput = {}) => callDirectly(calls, id, raw)

async function create(agent_id: string, name = agent_id, template = 'phone_outbound') {
  const { status, body } = await call('agents.create', { body: { template, name, agent_id } })
  expect(status).toBe(201)
  return { params: { agent_id }, at: { draft_id: body.draft.draft_id, expected_revision: 1 }, summary: body }
}

const refused = (code: string, reason?: string) => ({
  body: { error: { code, ...(reason !== undefined && { details: { reason } }) } },
})

async function publish(agent_id: string, at: object, test = false) {
  return call('publications.publish', { params: { agent_id }, body: { ...at, test } })
}

describe('creating an agent', () => {
  it('answers it with its first draft, made of the first services that are ready', async () => {
    const { params, summary } = await create('ada', 'Ada')
    expect(summary).toMatchObject({
      ref: { tenant_id: scope.tenant_id, kind: 'agent', id: 'ada' },
      name: 'Ada',
      head: null,
      draft: { revision: 1, base_version: null, published_revision: null },
      last_run: null,
    })
    expect(summary.updated_at).toBe(summary.created_at)
    const draft = await call('drafts.get', { params })
    expect(draft.body.providers).toEqual({
      stt: { provider: 'near', model: 'near-1' },
      llm: { model: { model_id: 'near-1', provider: 'near', tier: 'frontier' }, provider: 'hosted' },
      tts: { provider: 'near', model: 'near-1', voiceId: 'bea' },
    })
    expect((await call('agents.get', { params })).body).toEqual(summary)
  })

  it('makes an id where none is given', async () => {
    const { body } = await call('agents.create', { body: { template: 'blank', name: 'Ada' } })
    expect(body.ref.id).toMatch(/^agent_[0-9a-z]{20}$/)
  })

  it('gives no id twice, not even an archived one, whoever comes at once', async () => {
    const body = { template: 'blank', name: 'Ada', agent_id: 'ada' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('agents.create', { body })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    await call('agents.delete', { params: { agent_id: 'ada' } })
    expect(await call('agents.create', { body })).toMatchObject(refused('conflict', 'agent_exists'))
  })

  it.each(['phone_outbound', 'cloud_task', 'cloud_chat'])(
    'from %s makes a draft that can be published',
    async template => {
      const { at } = await create('ada', 'Ada', template)
      expect(await publish('ada', at)).toMatchObject({ status: 201 })
    },
  )
})
