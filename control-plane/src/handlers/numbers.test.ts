import type { Scope } from '@parley/contract'
import { archiveAgent } from '@parley/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, refused, tally, type Workspace } from '../testing/workspace.ts'

const ONE = '+12025550101'

let workspace: Workspace
let scope: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.configured()
  await workspace.trunk(scope, 'carrier')
})

const importNumber = (phone_number: string, over: object = {}) =>
  workspace.call(scope, 'numbers.import', { body: { phone_number, trunk_id: 'carrier', ...over } })
const assign = (number_id: string, agent_id: string | null, version?: number) =>
  workspace.call(scope, 'numbers.assign', {
    params: { number_id },
    body: { agent_id, ...(version !== undefined && { version }) },
  })
const release = (number_id: string) => workspace.call(scope, 'numbers.release', { params: { number_id } })
const list = (query: object = {}) => workspace.call(scope, 'numbers.list', { query })

describe('POST /telephony/numbers', () => {
  it('an imported number is returned unassigned and the engines are notified', async () => {
    const {
      status,
      body,
      auditedResource: about,
      notifications: announced,
    } = await importNumber(ONE, { name: 'Front fixture' })
    expect(status).toBe(201)
    expect(body).toMatchObject({ phone_number: ONE, trunk_id: 'carrier', name: 'Front fixture', assignment: null })
    expect(body.updated_at).toBe(body.created_at)
    expect(about).toEqual({ kind: 'phone_number', id: body.number_id })
    expect(announced).toEqual([{ topic: 'telephony', id: body.number_id }])
    expect((await list()).body).toEqual({ items: [body], next_cursor: null })
    expect((await importNumber('+12025550102')).body.name).toBeNull()
  })

  it('an import says how calls reach the number, and nothing of other environments that have it', async () => {
    const { body: first } = await importNumber(ONE)
    expect(first.inbound).toBe('token')
    await workspace.trunk(scope, 'outbound-only', false)
    expect((await importNumber('+12025550103', { trunk_id: 'outbound-only' })).body.inbound).toBe('unconfirmed')
    await workspace.test.owner.query('update parley.numbers set confirmed_at = now() where number_id = $1', [
      first.number_id,
    ])
    expect((await list()).body.items[0].inbound).toBe('address')
    scope = await workspace.configured()
    await workspace.trunk(scope, 'carrier')
    const { status, body } = await importNumber(ONE)
    const { number_id, created_at, updated_at } = body
    expect([status, body]).toEqual([201, { ...first, number_id, created_at, updated_at }])
    await workspace.test.owner.query('update parley.numbers set confirmed_at = null')
  })

  it('30 concurrent imports of one number create it once', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => importNumber(ONE)))
    expect(tally(answers)).toEqual({ '201': 1, number_exists: 29 })
    expect((await list()).body.items).toHaveLength(1)
  })

  it('a number can be imported only onto a trunk of its environment', async () => {
    expect(await importNumber(ONE, { trunk_id: 'none' })).toMatchObject(refused('not_found'))
    const home = scope
    scope = await workspace.configured()
    expect(await importNumber(ONE)).toMatchObject(refused('not_found'))
    await workspace.trunk(scope, 'carrier')
    expect((await importNumber(ONE)).status).toBe(201)
    scope = home
    expect((await importNumber(ONE)).status).toBe(201)
  })

  it('20 concurrent imports stop at 10,000 numbers', async () => {
    await workspace.test.owner.query(
      `insert into parley.numbers (tenant_id, phone_number, trunk_id)
       select $1::uuid, '+1303' || (1000000 + n), 'carrier' from generate_series(1, 9997) n`,
      [scope.tenant_id],
    )
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => importNumber(`+1202555${1000 + index}`)))
    expect(tally(answers)).toEqual({ '201': 3, limit_reached: 17 })
    expect(await importNumber('+13031000001')).toMatchObject(refused('conflict', 'number_exists'))
  })
})

describe('PUT /telephony/numbers/{number_id}/assignment', () => {
  let number_id: string
  beforeEach(async () => {
    number_id = (await importNumber(ONE)).body.number_id
  })

  it('a number can be assigned to the live version or a fixed version of an agent, or unassigned', async () => {
    await workspace.publishedAgent(scope, 'ada')
    const { body, auditedResource: about, notifications: announced } = await assign(number_id, 'ada')
    expect(body.assignment).toEqual({ agent_id: 'ada', version: null })
    expect(about).toEqual({ kind: 'phone_number', id: number_id })
    expect(announced).toEqual([{ topic: 'telephony', id: number_id }])
    expect((await assign(number_id, 'ada')).body).toEqual(body)
    expect((await assign(number_id, 'ada', 0)).body.assignment).toEqual({ agent_id: 'ada', version: 0 })
    expect((await assign(number_id, null)).body.assignment).toBeNull()
  })

  it('an agent that could not answer calls is refused with the reason', async () => {
    await workspace.publishedAgent(scope, 'archived', { archived: true })
    await workspace.publishedAgent(scope, 'unpublished', { headless: true })
    await workspace.publishedAgent(scope, 'tested', { test: true })
    await workspace.publishedAgent(scope, 'chat', { channels: ['cloud'] })
    expect(await assign(number_id, 'none')).toMatchObject(refused('not_found'))
    expect(await assign(number_id, 'archived')).toMatchObject(refused('conflict', 'agent_archived'))
    expect(await assign(number_id, 'unpublished')).toMatchObject(refused('conflict', 'agent_not_published'))
    expect(await assign(number_id, 'tested')).toMatchObject(refused('conflict', 'agent_not_published'))
    expect(await assign(number_id, 'tested', 0)).toMatchObject(refused('conflict', 'test_publication'))
    expect(await assign(number_id, 'tested', 1)).toMatchObject(refused('not_found'))
    const noPhone = refused('capability_unavailable', 'channel_not_supported')
    expect(await assign(number_id, 'chat')).toMatchObject(noPhone)
    expect(await assign(number_id, 'chat', 0)).toMatchObject(noPhone)
    expect((await list()).body.items[0].assignment).toBeNull()
  })

  it('with several obstacles the refusal names the first of agent, publication, channel, trunk', async () => {
    await workspace.trunk(scope, 'outbound', false)
    number_id = (await importNumber('+12025550102', { trunk_id: 'outbound' })).body.number_id
    await workspace.publishedAgent(scope, 'chat', { channels: ['cloud'], archived: true })
    await workspace.publishedAgent(scope, 'tested', { channels: ['cloud'], test: true })
    await workspace.publishedAgent(scope, 'cloudy', { channels: ['cloud'] })
    await workspace.publishedAgent(scope, 'ada')
    expect(await assign(number_id, 'chat')).toMatchObject(refused('conflict', 'agent_archived'))
    expect(await assign(number_id, 'tested', 0)).toMatchObject(refused('conflict', 'test_publication'))
    expect(await assign(number_id, 'cloudy')).toMatchObject(refused('capability_unavailable', 'channel_not_supported'))
    expect(await assign(number_id, 'ada')).toMatchObject(refused('conflict', 'trunk_not_inbound'))
    expect((await assign(number_id, null)).status).toBe(200)
  })

  it('an agent or number of another environment is answered 404', async () => {
    await workspace.publishedAgent(scope, 'ada')
    const home = scope
    scope = await workspace.configured()
    expect(await assign(number_id, null)).toMatchObject(refused('not_found'))
    expect(await release(number_id)).toMatchObject(refused('not_found'))
    await workspace.trunk(scope, 'carrier')
    number_id = (await importNumber(ONE)).body.number_id
    expect(await assign(number_id, 'ada')).toMatchObject(refused('not_found'))
    expect((await workspace.call(home, 'numbers.list')).body.items).toHaveLength(1)
  })

  it('concurrent archiving and assignment never leave a number on an archived agent', async () => {
    for (let round = 0; round < 10; round++) {
      await workspace.publishedAgent(scope, `a${round}`)
      const archived = workspace.test.database.transaction(scope, tx => archiveAgent(tx, scope, `a${round}`))
      const [assigned] = await Promise.all([assign(number_id, `a${round}`), archived])
      if (assigned.status !== 200) expect(assigned).toMatchObject(refused('conflict', 'agent_archived'))
      expect((await list()).body.items[0].assignment).toBeNull()
    }
  })

  it('concurrent release and assignment never give a released number an agent', async () => {
    await workspace.publishedAgent(scope, 'ada')
    for (let round = 0; round < 10; round++) {
      const id = (await importNumber(`+1202555020${round}`)).body.number_id
      const [assigned, released] = await Promise.all([assign(id, 'ada'), release(id)])
      expect(released.status).toBe(200)
      const expected = assigned.status === 200 ? { agent_id: 'ada', version: null } : null
      expect(released.body.assignment).toEqual(expected)
    }
    expect((await list({ agent_id: 'ada' })).body.items).toEqual([])
  })
})

describe('DELETE /telephony/numbers/{number_id}', () => {
  it('a release returns the last state of the number, also when repeated, and the number can be imported again', async () => {
    await workspace.publishedAgent(scope, 'ada')
    const { number_id } = (await importNumber(ONE)).body
    const last = (await assign(number_id, 'ada')).body
    const first = await release(number_id)
    expect(first).toMatchObject({ status: 200, body: last, notifications: [{ topic: 'telephony', id: number_id }] })
    expect((await release(number_id)).body).toEqual(last)
    expect(await assign(number_id, null)).toMatchObject(refused('not_found'))
    const again = (await importNumber(ONE)).body
    expect(again.number_id).not.toBe(number_id)
    expect(again.assignment).toBeNull()
    expect((await release(number_id)).body).toEqual(last)
    expect((await list()).body.items).toEqual([again])
    expect(await release('018f0000-0000-7000-8000-000000000000')).toMatchObject(refused('not_found'))
  })

  it('ten concurrent releases of a number get the same answer', async () => {
    const { body } = await importNumber(ONE)
    const answers = await Promise.all(Array.from({ length: 10 }, () => release(body.number_id)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body })
  })
})

describe('GET /telephony/numbers', () => {
  it('numbers are filtered by number, trunk and agent, and a cursor is bound to its filters', async () => {
    await workspace.trunk(scope, 'other')
    await workspace.publishedAgent(scope, 'ada')
    const numbers = ['+12025550109', '+442079460000', '+12025550100', '+3491000000']
    const ids = new Map<string, string>()
    for (const [index, number] of numbers.entries())
      ids.set(number, (await importNumber(number, { trunk_id: index < 2 ? 'carrier' : 'other' })).body.number_id)
    await assign(ids.get('+442079460000')!, 'ada')
    const shown = async (query: object) =>
      (await list(query)).body.items.map((one: { phone_number: string }) => one.phone_number)
    expect(await shown({})).toEqual(['+12025550100', '+12025550109', '+3491000000', '+442079460000'])
    expect(await shown({ trunk_id: 'other' })).toEqual(['+12025550100', '+3491000000'])
    expect(await shown({ agent_id: 'ada' })).toEqual(['+442079460000'])
    expect(await shown({ agent_id: 'ada', trunk_id: 'other' })).toEqual([])
    const cursor = (await list({ limit: 1 })).body.next_cursor
    expect(await shown({ cursor, limit: 2 })).toEqual(['+12025550109', '+3491000000'])
    expect(await list({ cursor, trunk_id: 'other' })).toMatchObject(refused('invalid_request', 'invalid_cursor'))
  })
})
