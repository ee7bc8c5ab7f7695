// This version on the database and home of an earlier version. `npm run proof -- upgrade` is the long form, with both versions
// at the same time.
import type { ParleyClient } from '@parley/client'
import { WebhookReceiver } from '@parley/loadtest'
import { startTestServer } from '@parley/store/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { clientOf, eventually, hasEnded, openChat, waitForRun } from '../../interop/placed-call.ts'
import { atLastTestEnd } from '../../interop/recipe.ts'
import { startServing, temporaryHome } from '../../interop/serving.ts'
import { BEFORE, emptyDatabase, restoreFixture } from './upgrade/restored-fixture.ts'

const SECRET = 'webhook-secret-of-the-fixture'
const SETTLE_TIMEOUT_MS = 90_000
/** A webhook that is sent twice arrives within this time: the first retry is after 1 s. */
const QUIET_MS = 3000
/** Agents that the earlier version published once each. */
const AGENTS = [
  ...['clinic', 'pizzeria', 'cloud-chat', 'cloud-task'],
  ...['florist', 'pharmacy', 'kitchen', 'menus', 'switchboard', 'restaurant', 'club'],
]
const PHONE = '+12025550143'

describe(`a platform on the database and home of ${BEFORE}`, () => {
  const afterAllTests = atLastTestEnd()
  let receiver: WebhookReceiver
  let client: ParleyClient

  beforeAll(async () => {
    const server = await startTestServer()
    afterAllTests(() => server.stop())
    const url = await emptyDatabase(server.templateUrl, 'parley_upgraded')
    const home = temporaryHome(afterAllTests)
    receiver = await WebhookReceiver.open({ secrets: [SECRET] })
    afterAllTests(() => receiver.close())
    await restoreFixture(url, home, receiver.url)
    const env = { DATABASE_URL: url, PARLEY_EGRESS_ALLOW: new URL(receiver.url).host }
    client = clientOf(await startServing(afterAllTests, { home, env }))
  })

  /** Received webhooks by run id, in order. */
  const delivered = () => Map.groupBy(receiver.entries, entry => entry.run_id)

  it.each(AGENTS)('the plan and the draft of %s are unchanged after the upgrade', async agent_id => {
    const { plan } = await client.publications.get({ params: { agent_id, version: 0 } })
    expect(plan.flow.nodes.length).toBeGreaterThan(0)
    const { diagnostics } = await client.drafts.validate({ params: { agent_id } })
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  })

  it('each webhook that was due before the upgrade is sent exactly once, and none is sent again', async () => {
    const { items } = await client.runs.list({ query: { agent_id: 'cloud-chat' } })
    const cancelled = items.filter(({ state }) => state === 'cancelled').map(({ run_id }) => run_id)
    expect(cancelled).toHaveLength(3)
    await eventually(
      async () => delivered(),
      byRun => cancelled.every(run_id => byRun.has(run_id)),
      SETTLE_TIMEOUT_MS,
    )
    await new Promise(resolve => setTimeout(resolve, QUIET_MS))
    const earlierRuns = new Set(items.map(({ run_id }) => run_id))
    const ofEarlierRuns = receiver.entries.filter(({ run_id }) => run_id !== null && earlierRuns.has(run_id))
    expect(ofEarlierRuns.map(({ run_id, event, signature }) => [run_id, event, signature]).sort()).toEqual(
      cancelled.map(run_id => [run_id, 'run.ended', 'valid']).sort(),
    )
  })

  it('a run that ended before the upgrade has its transcript and its effects', async () => {
    const { items } = await client.runs.list({ query: { agent_id: 'cloud-chat' } })
    const run = items.find(({ state, started_at }) => state === 'completed' && started_at !== null)!
    const params = { run_id: run.run_id }
    const { state, utterances } = await client.runs.transcript({ params })
    expect(state).toBe('complete')
    expect(utterances.map(({ role }) => role)).toEqual(['agent', 'user', 'agent', 'user', 'agent'])
    expect((await client.runs.effects({ params })).items.length).toBeGreaterThan(0)
  })

  it('a chat with an agent that was published before the upgrade is answered and sends its webhooks', async () => {
    const run_id = await openChat(client, 'cloud-chat', SETTLE_TIMEOUT_MS)
    const params = { run_id }
    const answer = await client.runs.message({ params, body: { text: 'Can you help me with my order?' } })
    expect(answer).toMatchObject({ state: 'running', utterances: [{ role: 'user' }, { role: 'agent' }] })
    await client.runs.message({ params, body: { text: 'No more questions, goodbye.' } })
    const run = await waitForRun(client, run_id, hasEnded, SETTLE_TIMEOUT_MS)
    expect(run).toMatchObject({ state: 'completed', publication: { version: 0 } })
    const events = async () => (delivered().get(run_id) ?? []).map(({ event }) => event)
    expect(await eventually(events, ({ length }) => length >= 2, SETTLE_TIMEOUT_MS)).toEqual([
      'run.started',
      'run.ended',
    ])
  })

  it('a task of an agent that was published before the upgrade completes', async () => {
    const body = { agent_id: 'cloud-task', channel: 'cloud', mode: 'task' } as const
    const { run_id } = await client.runs.create({ body })
    const run = await waitForRun(client, run_id, hasEnded, SETTLE_TIMEOUT_MS)
    expect(run).toMatchObject({ state: 'completed', publication: { version: 0 } })
  })

  it('an agent that was published before the upgrade calls the built-in phone, and both speak', async () => {
    const body = { agent_id: 'clinic', version: 0, channel: 'phone', mode: 'outbound', to: PHONE } as const
    const { run_id } = await client.runs.create({ body })
    const params = { run_id }
    const roles = async () => new Set((await client.runs.transcript({ params })).utterances.map(({ role }) => role))
    await eventually(roles, found => found.has('agent') && found.has('user'), 60_000)
    await client.runs.cancel({ params })
    expect(await waitForRun(client, run_id, hasEnded, SETTLE_TIMEOUT_MS)).toMatchObject({ publication: { version: 0 } })
  })
})
