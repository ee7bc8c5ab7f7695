import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, refused, tally, type Workspace } from '../testing/workspace.ts'

let workspace: Workspace
let scope: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.test.scope()
})

const UNKNOWN = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const HOOK = { kind: 'webhook', url: 'https://alerts.example.com/parley?token=hidden' }
const RULE = { metric: 'spend_usd_per_hour', threshold: '12.5', enabled: true, destination: HOOK }

const secret = () =>
  workspace.call(scope, 'secrets.put', {
    params: { secret_id: 'alert_webhook' },
    body: { kind: 'webhook_signing', value: 'a secret' },
  })
const create = (rule: object = RULE) => workspace.call(scope, 'alerts.create', { body: { rule } })
const update = (alert_id: string, expected_revision: number, rule: object) =>
  workspace.call(scope, 'alerts.update', { params: { alert_id }, body: { expected_revision, rule } })
const remove = (alert_id: string, expected_revision: number) =>
  workspace.call(scope, 'alerts.delete', { params: { alert_id }, query: { expected_revision } })
const list = async () => (await workspace.call(scope, 'alerts.list')).body
const destinations = (body: object) => workspace.call(scope, 'alert_destinations.update', { body })
const keep = { metric: 'call_error_rate_24h', threshold: '0.05', enabled: true, destination: { action: 'keep' } }

async function newRule(): Promise<string> {
  await secret()
  return (await create()).body.rule.id
}

async function uncertain(alertId: string): Promise<string> {
  const { rows } = await workspace.test.owner.query(
    `insert into parley.alert_deliveries (tenant_id, alert_id, rule_revision, status, destination_kind, destination_revision,
       value, threshold, window_from, window_to, finished_at, error_code)
     select tenant_id, alert_id, revision, 'uncertain', 'webhook', 'r', '13', threshold, now(), now(), now(), 'timeout'
     from parley.alert_rules where alert_id = $1 returning delivery_id`,
    [alertId],
  )
  return rows[0].delivery_id
}

describe('alert rules', () => {
  it('a rule is created pending, without its URL in any answer', async () => {
    await secret()
    const { status, body, auditedResource } = await create()
    expect(status).toBe(201)
    expect(body.scope).toEqual(scope)
    expect(body.rule).toEqual({
      id: expect.any(String),
      revision: 1,
      metric: 'spend_usd_per_hour',
      threshold: '12.5',
      destination: { kind: 'webhook' },
      enabled: true,
      deleted_at: null,
      evaluation: { status: 'pending', reason: null, evaluated_at: null, window: null, value: null, evidence: null },
      last_fired_at: null,
      blocked_by_delivery_id: null,
      latest_delivery: null,
    })
    expect(auditedResource).toEqual({ kind: 'operation', id: `alerts/${body.rule.id}` })
    expect(JSON.stringify([body, await list()])).not.toContain('hidden')
  })

  it('the URL of a webhook is stored encrypted', async () => {
    const id = await newRule()
    const { rows } = await workspace.test.owner.query(
      "select position('hidden'::bytea in destination_sealed) as at from parley.alert_rules where alert_id = $1",
      [id],
    )
    expect(rows).toEqual([{ at: 0 }])
  })

  it('rules are listed newest first, those of the environment only', async () => {
    const ids = [await newRule(), await newRule()]
    expect((await list()).items.map(({ id }: { id: string }) => id)).toEqual([...ids].reverse())
    scope = await workspace.test.scope()
    expect((await list()).items).toEqual([])
    expect(await remove(ids[0]!, 1)).toMatchObject(refused('not_found'))
  })

  it('a rule needs its destination, and a webhook the signing secret', async () => {
    expect(await create()).toMatchObject(refused('capability_unavailable', 'signing_secret_missing'))
    for (const kind of ['chat', 'paging'])
      expect(await create({ ...RULE, destination: { kind } })).toMatchObject(
        refused('capability_unavailable', 'destination_not_configured'),
      )
    const id = await newRule()
    const change = { ...keep, destination: { action: 'replace', value: { kind: 'chat' } } }
    expect(await update(id, 1, change)).toMatchObject(refused('capability_unavailable', 'destination_not_configured'))
  })

  it('plain http is refused except where the operator has allowed it', async () => {
    await secret()
    const url = 'http://alerts.example.com/'
    expect(await create({ ...RULE, destination: { kind: 'webhook', url } })).toMatchObject(
      refused('invalid_request', 'address_not_allowed'),
    )
    const { body } = await create({ ...RULE, destination: { kind: 'webhook', url: 'http://127.0.0.1:9999/' } })
    expect(body.rule.revision).toBe(1)
    const value = { kind: 'webhook', url }
    expect(await update(body.rule.id, 1, { ...keep, destination: { action: 'replace', value } })).toMatchObject(
      refused('invalid_request', 'address_not_allowed'),
    )
    expect(await destinations({ chat: { expected_revision: null, webhook_url: url } })).toMatchObject(
      refused('invalid_request', 'address_not_allowed'),
    )
  })

  it('a change is a compare-and-set on the revision', async () => {
    const id = await newRule()
    expect((await update(id, 1, keep)).body.rule).toMatchObject({
      revision: 2,
      threshold: '0.05',
      destination: { kind: 'webhook' },
    })
    const stale = await update(id, 1, keep)
    expect(stale).toMatchObject(refused('conflict', 'stale_revision'))
    expect(stale.body.error.details.current).toEqual({ revision: 2 })
    expect(await remove(id, 1)).toMatchObject(refused('conflict', 'stale_revision'))
    expect(await update(UNKNOWN, 1, keep)).toMatchObject(refused('not_found'))
  })

  it('of two changes of one revision, one is stored', async () => {
    const id = await newRule()
    const answers = await Promise.all([update(id, 1, keep), update(id, 1, keep)])
    expect(tally(answers)).toEqual({ 200: 1, stale_revision: 1 })
  })

  it('a deleted rule leaves the list, and deleting it again answers the same', async () => {
    const id = await newRule()
    const { body } = await remove(id, 1)
    expect(body.rule.deleted_at).toEqual(expect.any(String))
    expect((await list()).items).toEqual([])
    expect((await remove(id, 1)).body).toEqual(body)
    expect(await update(id, 1, keep)).toMatchObject(refused('not_found'))
  })

  it('an environment has at most 100 rules; deleted ones do not count', async () => {
    const id = await newRule()
    await workspace.test.owner.query(
      `insert into parley.alert_rules (tenant_id, metric, threshold, destination_kind, enabled)
       select $1, 'call_error_rate_24h', '1', 'chat', false from generate_series(1, 99)`,
      [scope.tenant_id],
    )
    expect(await create()).toMatchObject(refused('conflict', 'limit_reached'))
    await remove(id, 1)
    expect((await create()).status).toBe(201)
  })

  it('an uncertain delivery is acknowledged once, and again without effect', async () => {
    const id = await newRule()
    const delivery_id = await uncertain(id)
    expect((await list()).items[0]).toMatchObject({ blocked_by_delivery_id: delivery_id })
    const acknowledge = (delivery_id: string, expected_revision = 1) =>
      workspace.call(scope, 'alerts.acknowledge', {
        params: { alert_id: id },
        body: { expected_revision, delivery_id },
      })
    expect(await acknowledge(delivery_id, 2)).toMatchObject(refused('conflict', 'stale_revision'))
    expect(await acknowledge(UNKNOWN)).toMatchObject(refused('conflict', 'not_uncertain'))
    const { status, body } = await acknowledge(delivery_id)
    expect(status).toBe(200)
    expect(body.rule).toMatchObject({
      revision: 1,
      blocked_by_delivery_id: null,
      latest_delivery: { id: delivery_id, status: 'uncertain', acknowledged_at: expect.any(String) },
    })
    expect((await acknowledge(delivery_id)).body).toEqual(body)
  })

  it('the signing secret cannot be deleted while a rule pins it', async () => {
    const id = await newRule()
    const query = (force: boolean) =>
      workspace.call(scope, 'secrets.delete', { params: { secret_id: 'alert_webhook' }, query: { force } })
    const kept = await query(false)
    expect(kept).toMatchObject(refused('conflict', 'secret_in_use'))
    expect(kept.body.error.details.references).toEqual([{ kind: 'alert', id }])
    expect((await query(true)).status).toBe(200)
  })
})

describe('alert destinations', () => {
  it('chat and paging are set, replaced and cleared by compare-and-set, and never returned', async () => {
    const none = { revision: null, configured: false }
    const { body: before } = await workspace.call(scope, 'alert_destinations.get')
    expect(before).toEqual({ scope, destinations: { chat: none, paging: none } })
    const { body, auditedResource } = await destinations({
      chat: { expected_revision: null, webhook_url: 'https://chat.example.com/hidden' },
    })
    const { chat, paging } = body.destinations
    expect([chat, paging]).toEqual([{ revision: expect.any(String), configured: true }, none])
    expect(auditedResource).toEqual({ kind: 'operation', id: 'alert-destinations' })
    expect(JSON.stringify(body)).not.toContain('hidden')

    const stale = await destinations({ chat: { expected_revision: null, webhook_url: null } })
    expect(stale).toMatchObject(refused('conflict', 'stale_revision'))
    expect(stale.body.error.details.current).toEqual({
      chat: { revision: chat.revision },
      paging: { revision: null },
    })
    const cleared = await destinations({ chat: { expected_revision: chat.revision, webhook_url: null } })
    expect(cleared.body.destinations.chat).toEqual({ revision: expect.any(String), configured: false })
    expect(cleared.body.destinations.chat.revision).not.toBe(chat.revision)
  })

  it('an update of both destinations stores neither when one of them is stale', async () => {
    const both = {
      chat: { expected_revision: null, webhook_url: 'https://chat.example.com/' },
      paging: { expected_revision: UNKNOWN, routing_key: 'R' },
    }
    expect(await destinations(both)).toMatchObject(refused('conflict', 'stale_revision'))
    const { body } = await workspace.call(scope, 'alert_destinations.get')
    expect(body.destinations.chat.configured).toBe(false)
  })
})
