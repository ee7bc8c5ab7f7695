import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ParleyApiError, ParleyClient } from '@parley/client'
import { buildApi, type CatalogueModel, type CatalogueVoice, handlers } from '@parley/control-plane'
import type { Api } from '@parley/control-plane/testing'
import { type Bus, MasterKeySealer, postgresBus } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminAnswer } from './admin.ts'
import { agentsWork } from './agents.ts'

const MODEL: CatalogueModel = {
  model: { model_id: 'near-1', provider: 'near', tier: 'frontier' },
  name: 'Near',
  kind: 'chat',
  provider: 'hosted',
  ready: true,
  reason: null,
  context_tokens: null,
  dimension: null,
  tools: true,
}
const voice = (role: 'stt' | 'tts'): CatalogueVoice => ({
  role,
  provider: 'near',
  model: 'near-1',
  voice_id: role === 'stt' ? null : 'bea',
  name: 'Near',
  languages: ['en', 'es'],
  gender: null,
  ready: true,
  reason: null,
})

let home: string
let test: TestDatabase
let bus: Bus
let api: Api
let baseUrl: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-staff-'))
  test = await testDatabase()
  bus = postgresBus({ url: test.owner.url })
  api = await buildApi({
    handlers,
    database: test.database,
    bus,
    log: pino({ level: 'silent' }),
    platform: {
      catalogue: () => ({ models: [MODEL], voices: [voice('stt'), voice('tts')] }),
      sealer: new MasterKeySealer(new Map([[1, randomBytes(32)]])),
      sip: { domain: 'localhost', tlsPort: 5061 },
      iceServers: () => [],
      allowsSipHost: () => true,
      allowsPlainHttp: () => false,
      wake: () => {},
      due: () => {},
      knowledge: { search: async () => ({ state: 'failed', failure: 'not_configured', message: 'there is no model' }) },
      blobs: { get: async () => null },
      checkProviderKey: async () => ({ outcome: 'accepted', models: [] }),
      previewVoice: async () => ({ state: 'failed', message: 'there is no voice' }),
      links: { areMailed: false, deliver: () => {} },
      baseUrl: () => 'http://localhost',
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
  await rm(home, { recursive: true, force: true })
})

const admin = async (...args: string[]) =>
  (await adminAnswer(args, () => ({ home, databaseUrl: test.owner.url, redisUrl: null, masterKey: null }))) as {
    readonly tenant_id: string
    readonly secret: string
  }

/** Runs `parley agents` and returns its output. */
async function agents(
  client: ParleyClient,
  ...args: string[]
): Promise<{ readonly exit: number; readonly out: string }> {
  const out: string[] = []
  const print = (text: string) => void out.push(text)
  const exit = await agentsWork(args)({ client, print, remark: print })
  return { exit, out: out.join('') }
}

describe('an empty database', () => {
  it('staff create the organisation and its key, and the agents commands import and publish on the real API', async () => {
    await admin('org', 'create', '--name', 'Clinic')
    const { secret } = await admin('key', 'create', '--name', 'first', '--role', 'admin')
    const client = new ParleyClient({ baseUrl, key: secret })
    expect((await agents(client, 'list')).out).toBe('No agents.\n')

    await client.agents.create({ body: { template: 'cloud_chat', name: 'Anna', agent_id: 'anna' } })
    expect(await agents(client, 'validate', 'anna')).toMatchObject({ exit: 0 })
    expect((await agents(client, 'publish', 'anna')).out).toContain('anna version 0 is live\n')
    expect((await agents(client, 'list')).out).toMatch(/anna +Anna +version 0 +cloud +published/)

    const file = join(home, 'anna.json')
    await agents(client, 'export', 'anna', '--out', file)
    const exported = JSON.parse(await readFile(file, 'utf8'))
    // An import takes only agents that require recording, which this template does not.
    await expect(agents(client, 'import', file, '--as', 'anna-2')).rejects.toThrow(
      /invalid_request\)\n {2}\/config\/recording\/required {2}/,
    )
    exported.config.recording.required = true
    await writeFile(file, JSON.stringify(exported))
    expect((await agents(client, 'import', file, '--as', 'anna-2')).out).toContain('created agent anna-2, revision 1\n')
    expect((await agents(client, 'import', file, '--as', 'anna-2')).out).toContain('no changes for anna-2')
    expect((await agents(client, 'list', '--search', 'anna')).out).toContain('anna-2')
    await expect(agents(client, 'publish', 'nobody')).rejects.toThrow('(not_found)')

    const audit = []
    for await (const { action, principal } of client.audit.list.all({ query: { limit: 3 } }))
      if (principal.kind === 'system') audit.push(`${action} by ${principal.id}`)
    expect(audit).toEqual(['staff.create_key by staff', 'staff.create_organisation by staff'])
  })

  it('a new rate limit takes effect within moments, and an invalid key is refused', async () => {
    const { tenant_id } = await admin('org', 'create', '--name', 'Busy')
    const { secret } = await admin('key', 'create', '--name', 'k', '--role', 'viewer', '--env', tenant_id)
    const client = new ParleyClient({ baseUrl, key: secret, retries: 0 })
    await client.agents.list()
    await admin('env', 'set-rate-limit', '1', '1', '--env', tenant_id)
    const burst = async () =>
      (await Promise.allSettled(Array.from({ length: 10 }, () => client.agents.list()))).map(result =>
        result.status === 'rejected' ? (result.reason as ParleyApiError).code : 'accepted',
      )
    // The API learns of the new limit after the command has ended.
    await expect.poll(burst).toContain('rate_limited')
    // With retries the client waits as long as the API asks.
    expect(await new ParleyClient({ baseUrl, key: secret }).agents.list()).toMatchObject({ agents: [] })
    const stranger = new ParleyClient({ baseUrl, key: `parley_live_${'x'.repeat(40)}` })
    await expect(stranger.agents.list()).rejects.toBeInstanceOf(ParleyApiError)
    await expect(stranger.agents.list()).rejects.toMatchObject({ code: 'unauthenticated', attempts: 1 })
  })
})
