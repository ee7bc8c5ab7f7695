import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ParleyClient } from '@parley/client'
import { buildApi, handlers } from '@parley/control-plane'
import type { Api } from '@parley/control-plane/testing'
import { exampleDraft, withOrigin } from '@parley/examples'
import { readDraft } from '@parley/flow'
import { systemTime } from '@parley/kernel'
import { type Bus, MasterKeySealer, postgresBus } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ApiCatalogue } from '../api-catalogue.ts'
import { readSettings } from '../environment.ts'
import { Services } from '../services.ts'
import { PHONE_HOST } from './built-in-phone.ts'
import { demoWorkspace } from './demo-workspace.ts'
import { seedExamples } from './seed-examples.ts'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'
import { seedAgent } from './seeded-agent.ts'

const ORIGIN = 'http://127.0.0.1:8790'

let home: string
let test: TestDatabase
let bus: Bus
let api: Api
let baseUrl: string
let services: Services
let catalogue: ApiCatalogue
// One API for all tests: its threads for large drafts take longer to start than the requests of a test.
beforeAll(async () => {
  services = new Services(readSettings({}))
  catalogue = await ApiCatalogue.open(services, systemTime)
  test = await testDatabase()
  bus = postgresBus({ url: test.owner.url })
  api = await buildApi({
    handlers,
    database: test.database,
    bus,
    log: pino({ level: 'silent' }),
    platform: {
      catalogue: () => catalogue.current,
      sealer: new MasterKeySealer(new Map([[1, randomBytes(32)]])),
      sip: { domain: 'localhost', tlsPort: 5061 },
      iceServers: () => [],
      allowsSipHost: () => true,
      allowsPlainHttp: url => url.origin === ORIGIN,
      wake: () => {},
      due: () => {},
      knowledge: { search: async () => ({ state: 'failed', failure: 'not_configured', message: 'there is no model' }) },
      blobs: { get: async () => null },
      checkProviderKey: async () => ({ outcome: 'accepted', models: [] }),
      previewVoice: async () => ({ state: 'failed', message: 'there is no voice' }),
      links: { areMailed: false, deliver: () => {} },
      baseUrl: () => baseUrl,
      randomBytes,
      now: Date.now,
    },
  })
  baseUrl = await api.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await api?.close()
  await bus?.close()
  await test?.close()
  catalogue?.close()
  await services?.close()
})
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-home-'))
})
afterEach(async () => {
  await test.owner.query('truncate parley.organisations cascade')
  await rm(home, { recursive: true, force: true })
})

/** Seeds as a start does; returns the printed lines. */
async function start(webhooks = true): Promise<{ readonly client: ParleyClient; readonly printed: string[] }> {
  const { client } = (await demoWorkspace(home, test.owner.url, baseUrl))!
  const printed: string[] = []
  await seedExamples(home, client, services, ORIGIN, line => printed.push(line), { webhooks })
  return { client, printed }
}

const versionsOf = async (client: ParleyClient, agent_id: string) =>
  (await client.publications.list({ params: { agent_id } })).items.map(({ ref }) => ref.version)

/** Everything that seeding creates. */
async function seededState(client: ParleyClient): Promise<unknown> {
  const { agents } = await client.agents.list()
  const drafts = agents.map(({ ref }) => client.drafts.get({ params: { agent_id: ref.id } }))
  return [
    await Promise.all(drafts),
    await client.trunks.list(),
    await client.numbers.list(),
    await client.secrets.list(),
    await Promise.all(agents.map(({ ref }) => versionsOf(client, ref.id))),
    await client.testSuites.list(),
  ]
}

describe('the demo workspace', () => {
  it('the agents can call the built-in phone and send webhooks about their runs', async () => {
    const { client, printed } = await start()
    expect(printed).toEqual([])
    const trunk = await client.trunks.get({ params: { trunk_id: 'demo-phone' } })
    expect(trunk).toMatchObject({ termination_uri: PHONE_HOST, auth_username: 'parley', inbound: false })
    for (const agent_id of ['clinic', 'pizzeria']) {
      const { plan } = await client.publications.get({ params: { agent_id, version: 0 } })
      expect(plan.telephony).toEqual({ trunkId: 'demo-phone', from: '+12025550144' })
      expect(plan.notification).toMatchObject({
        url: `${ORIGIN}/webhooks`,
        secret: { id: 'demo-webhook', version: '1' },
      })
      const { diagnostics } = await client.drafts.validate({ params: { agent_id } })
      expect(diagnostics).toEqual([])
    }
    const { items } = await client.keys.list()
    expect(items).toMatchObject([{ role: 'admin', can_dial: true }])
  })

  it('each agent has its test suite, which another start does not create again', async () => {
    const { client } = await start()
    const { items } = await client.testSuites.list()
    expect(items.map(({ agent_id }) => agent_id).sort()).toEqual(['clinic', 'pizzeria'])
    for (const { case_count } of items) expect(case_count).toBeGreaterThan(0)
    const { suite_id, revision } = items.find(({ agent_id }) => agent_id === 'clinic')!
    await client.testSuites.delete({ params: { suite_id }, query: { expected_revision: revision } })
    await start()
    expect((await client.testSuites.list()).items.map(({ agent_id }) => agent_id)).toEqual(['pizzeria'])
  })

  it('another start changes nothing', async () => {
    const { client } = await start()
    const before = await seededState(client)
    await start()
    expect(await seededState(client)).toEqual(before)
  })

  it('a workspace of an earlier version is completed and published again', async () => {
    const { client } = (await demoWorkspace(home, test.owner.url, baseUrl))!
    const draft = readDraft(withOrigin(exampleDraft('clinic').draft, ORIGIN))
    const seed = { agentId: 'clinic', language: 'en', draft, trunkId: 'demo', number: '+12025550142' } as const
    const record = await readSeedRecord(home)
    await seedAgent(client, seed, record, (agentId, seeded) =>
      writeSeedRecord(home, { ...record, agents: { [agentId]: seeded } }),
    )
    await start()
    expect(await versionsOf(client, 'clinic')).toEqual([1, 0])
    const { plan } = await client.publications.get({ params: { agent_id: 'clinic', version: 1 } })
    expect(plan).toMatchObject({ telephony: { trunkId: 'demo-phone' }, notification: { url: `${ORIGIN}/webhooks` } })
  })

  it('an agent that had a voice of another service is published with the voice that is ready now', async () => {
    const { client } = await start()
    const { draft } = await client.agents.get({ params: { agent_id: 'clinic' } })
    const { draft_id, revision } = draft!
    const edits = [{ type: 'agent.provider', role: 'tts', changes: { voiceId: 'of-another-service' } }] as const
    const edited = await client.drafts.edit({
      params: { agent_id: 'clinic' },
      body: { draft_id, expected_revision: revision, edits: [...edits] },
    })
    const record = await readSeedRecord(home)
    const stale = { draft_id, revision: edited.revision, digest: 'of an earlier version' }
    await writeSeedRecord(home, { ...record, agents: { ...record.agents, clinic: stale } })
    expect((await start()).printed).toEqual([])
    expect(await versionsOf(client, 'clinic')).toEqual([1, 0])
    const { plan } = await client.publications.get({ params: { agent_id: 'clinic', version: 1 } })
    expect(plan.providers.tts.voiceId ?? null).toBeNull()
  })

  it('the workspace is complete even if earlier starts were interrupted', async () => {
    const { key } = (await demoWorkspace(home, test.owner.url, baseUrl))!
    let sent = 0
    for (let limit = 1; ; limit += 3) {
      sent = 0
      const failingFetch: typeof fetch = (input, init) =>
        ++sent > limit ? Promise.reject(new Error('the connection was cut')) : fetch(input, init)
      const client = new ParleyClient({ baseUrl, key, fetch: failingFetch, retries: 0 })
      const done = seedExamples(home, client, services, ORIGIN, () => {}, { webhooks: true }).then(
        () => true,
        () => false,
      )
      if (await done) break
    }
    expect(sent).toBeGreaterThan(10)
    const { client, printed } = await start()
    expect(printed).toEqual([])
    for (const agent_id of ['clinic', 'pizzeria']) {
      expect(await versionsOf(client, agent_id)).toEqual([0])
      const { plan } = await client.publications.get({ params: { agent_id, version: 0 } })
      expect(plan).toMatchObject({ telephony: { trunkId: 'demo-phone' }, notification: { url: `${ORIGIN}/webhooks` } })
    }
    expect((await client.testSuites.list()).items).toHaveLength(2)
    const { items } = await client.numbers.list()
    expect(items.map(number => [number.phone_number, number.assignment?.agent_id]).sort()).toEqual([
      ['+12025550142', 'clinic'],
      ['+12025550144', undefined],
      ['+34910000142', 'pizzeria'],
    ])
  })

  it('changes by users are kept', async () => {
    const { client } = await start()
    await client.trunks.update({ params: { trunk_id: 'demo-phone' }, body: { termination_uri: 'sip.carrier.example' } })
    await client.secrets.put({ params: { secret_id: 'demo-phone' }, body: { kind: 'sip_auth', value: 'theirs' } })
    await client.secrets.put({
      params: { secret_id: 'demo-webhook' },
      body: { kind: 'webhook_signing', value: 'theirs' },
    })
    const { draft_id, revision } = await client.drafts.get({ params: { agent_id: 'clinic' } })
    const edits = [{ type: 'agent.telephony' as const, value: null }]
    await client.drafts.edit({ params: { agent_id: 'clinic' }, body: { draft_id, expected_revision: revision, edits } })
    const before = await seededState(client)
    await start()
    expect(await seededState(client)).toEqual(before)
  })

  it('an archived example is left out', async () => {
    const { client } = await start()
    await client.agents.delete({ params: { agent_id: 'clinic' } })
    const { printed } = await start()
    expect(printed).toEqual([])
    expect((await client.agents.list()).agents.map(({ ref }) => ref.id)).toEqual(['pizzeria'])
  })

  it('an example that cannot be restored is left out, and the reason is printed', async () => {
    const { client } = await start()
    const [number] = (await client.numbers.list({ query: { trunk_id: 'demo' } })).items
    await client.numbers.release({ params: { number_id: number!.number_id } })
    await client.trunks.update({ params: { trunk_id: 'demo' }, body: { inbound: false } })
    const { printed } = await start()
    expect(printed).toEqual([expect.stringContaining('The example "clinic" is not complete: ')])
    expect((await client.numbers.list({ query: { trunk_id: 'demo-es' } })).items).toHaveLength(1)
  })

  it('the number of an example is found among many on the same trunk', async () => {
    const { client } = await start()
    for (let n = 10; n < 61; n++)
      await client.numbers.import({ body: { phone_number: `+120155501${n}`, trunk_id: 'demo' } })
    expect((await start()).printed).toEqual([])
  })

  it('a lost password of the phone is replaced, and agents can call it again', async () => {
    const { client } = await start()
    await rm(join(home, 'demo-phone-password'))
    await start()
    const trunk = await client.trunks.get({ params: { trunk_id: 'demo-phone' } })
    expect(trunk.auth_secret).toEqual({ id: 'demo-phone', version: '2' })
  })

  it('if a secret of another kind has the name that the phone needs, the phone is left out and the reason is printed', async () => {
    const { client } = (await demoWorkspace(home, test.owner.url, baseUrl))!
    await client.secrets.put({ params: { secret_id: 'demo-phone' }, body: { kind: 'http_auth', value: 'theirs' } })
    const { printed } = await start()
    expect(printed).toEqual([expect.stringContaining('No agent can call the built-in phone: ')])
    const { plan } = await client.publications.get({ params: { agent_id: 'clinic', version: 0 } })
    expect(plan.telephony).toBeNull()
  })
})
