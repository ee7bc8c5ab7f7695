import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Scope } from '@parley/contract'
import { Client } from 'pg'
import { afterEach, expect, it } from 'vitest'
import type { Database } from '../protocol.ts'
import { readPublication } from '../publications.ts'
import { admitRun } from '../runs/admission.ts'
import { finishRun } from '../runs/finish.ts'
import { settleSend, takeWebhooks } from '../runs/outbox.ts'
import { moveRun } from '../runs/ownership.ts'
import { CHAT, CHAT_OVER, ENGINE } from '../runs/runs.fixture.ts'
import { readRun } from '../runs/runs.ts'
import { readSecretValues } from '../secret-values.ts'
import { putSecret } from '../secrets.ts'
import { openDatabase } from './database.ts'
import { startEmbeddedPostgres } from './embedded-postgres.ts'
import { migrate } from './migrate.ts'
import { openBlobs } from './open-blobs.ts'
import { loadMasterKey, MasterKeySealer } from './sealer.ts'

const run = promisify(execFile)
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const RECORDING = 'recordings/one/call.wav'
const AUDIO = Buffer.from('RIFF of a call')

/** What a process of Parley has open on a home. */
async function open(home: string) {
  const embedded = await startEmbeddedPostgres({ home })
  ends.push(() => embedded.stop())
  await migrate(embedded.ownerUrl)
  const database = await openDatabase({ ownerUrl: embedded.ownerUrl })
  const sealer = new MasterKeySealer(await loadMasterKey(undefined, home))
  const blobs = await openBlobs(pathToFileURL(join(home, 'blobs')).href)
  const close = async () => {
    await database.close()
    await embedded.stop()
  }
  ends.push(() => database.close())
  return { ownerUrl: embedded.ownerUrl, database, sealer, blobs, close }
}

/** Makes an environment with an agent. */
async function seed(ownerUrl: string): Promise<Scope> {
  const owner = new Client({ connectionString: ownerUrl })
  await owner.connect()
  try {
    const { rows: organisations } = await owner.query(
      "insert into parley.organisations (name) values ('Test') returning owner_id",
    )
    const { owner_id } = organisations[0]
    const { rows } = await owner.query(
      "insert into parley.tenants (owner_id, environment, name, admission_enabled, concurrent_capacity) values ($1, 'production', 'Test', true, 10) returning tenant_id",
      [owner_id],
    )
    const { tenant_id } = rows[0]
    await owner.query("insert into parley.agents (tenant_id, agent_id, name) values ($1, 'greeter', 'A')", [tenant_id])
    await owner.query(
      `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
         source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
       values ($1, 'greeter', 1, 'd', 1, '{phone,cloud}', '{en}', 'api', '{}', false, uuidv7(), 1, '{"greeting": "Hello"}', '{}', '[]')`,
      [tenant_id],
    )
    return { owner_id, environment: 'production', tenant_id }
  } finally {
    await owner.end()
  }
}

/** As docs/operations.md says: Parley is stopped, then its home and the database's directory are copied. */
async function backUpAndRestore(home: string): Promise<string> {
  const record = JSON.parse(await readFile(join(home, 'postgres.json'), 'utf8')) as { data: string }
  const restoredHome = `${home}-restored`
  const server = dirname(record.data)
  const isInHome = server.startsWith(`${home}/`)
  const restoredServer = isInHome ? server.replace(home, restoredHome) : `${server}-restored`
  for (const copy of [restoredHome, restoredServer]) ends.push(() => rm(copy, { recursive: true, force: true }))
  await run('cp', ['-a', home, restoredHome])
  if (!isInHome) await run('cp', ['-a', server, restoredServer])
  // The original is gone: nothing of the restored platform may depend on it.
  for (const original of [home, server]) await rm(original, { recursive: true, force: true })
  const data = join(restoredServer, 'data')
  await writeFile(join(restoredHome, 'postgres.json'), JSON.stringify({ ...record, data }), { mode: 0o600 })
  return restoredHome
}

/** A chat that ended; its webhook is not sent yet. */
async function endedChat(database: Database, scope: Scope): Promise<string> {
  const owner = { ...ENGINE, leaseMs: 60_000 }
  return database.transaction(scope, async tx => {
    const admission = await admitRun(tx, scope, { ...CHAT, notifies: true }, { owner })
    if (admission.kind !== 'admitted') throw new Error(admission.reason)
    await moveRun(tx, scope, admission.owned!, { state: 'running' })
    await finishRun(tx, scope, admission.owned!, CHAT_OVER)
    return admission.run_id
  })
}

const takenOf = (database: Database, scope: Scope) =>
  database.transaction(scope, tx => takeWebhooks(tx, scope, 60_000, 10))

it('a home and its database restored elsewhere have their agents and recordings, open their secrets, and send pending webhooks once', async () => {
  const home = await mkdtemp(join(tmpdir(), 'parley-home-'))
  ends.push(() => rm(home, { recursive: true, force: true }))
  const original = await open(home)
  const scope = await seed(original.ownerUrl)
  const runId = await endedChat(original.database, scope)
  const secret = { secret_id: 'hook', kind: 'webhook_signing', value: 'sesame' } as const
  await original.database.transaction(scope, tx => putSecret(tx, scope, original.sealer, secret))
  await original.blobs.put(RECORDING, AUDIO)
  await original.close()

  const restored = await open(await backUpAndRestore(home))
  const db = restored.database.within(scope)
  expect((await readPublication(db, scope, 'greeter', 1))?.plan).toMatchObject({ greeting: 'Hello' })
  expect(await readRun(db, scope, runId)).toMatchObject({ state: 'completed', agent_id: 'greeter' })
  expect(await readSecretValues(db, scope, restored.sealer, { id: 'hook', version: '1' })).toMatchObject({
    pinned: 'sesame',
  })
  const recording = await restored.blobs.get(RECORDING)
  expect(await buffer(recording!.bytes)).toEqual(AUDIO)
  const [webhook, ...others] = await takenOf(restored.database, scope)
  expect([webhook?.event, others]).toEqual(['run.ended', []])
  await restored.database.transaction(scope, tx => settleSend(tx, webhook!, { kind: 'delivered' }))
  expect(await takenOf(restored.database, scope)).toEqual([])
})
