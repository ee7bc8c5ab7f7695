// node scripts/proofs/upgrade/make-fixture.ts CHECKOUT FOLDER
// Runs the Parley of CHECKOUT (another version, installed) and writes to FOLDER what it stored: `data.sql.gz`, the rows of its
// database, and `home.json`, the files of its home. The README of FOLDER describes them.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { ParleyClient } from '@parley/client'
import { startTestServer } from '@parley/store/testing'
import { Client } from 'pg'
import { dumpRows } from './rows.ts'

/** Where the agents of the fixture send webhooks; restoring it replaces the origin. */
const RECEIVER_PORT = 9187
const ORIGIN = `http://127.0.0.1:${RECEIVER_PORT}`
const READY_TIMEOUT_MS = 120_000
const POLL_MS = 200
/** Files of a home that are created again if they are missing, or that belong to one process or machine. */
const EXCLUDED_FILES = /^(postgres|tls|phone\/tls|blobs|spool|journals)(\/|$)|^postgres\.json$/

const [checkout = '', folder = ''] = process.argv.slice(2).map(path => resolve(path))
const old = <Module>(path: string) => import(join(checkout, path)) as Promise<Module>
const { editsFor } = await old<typeof import('../../../packages/cli/src/workspace/draft-edits.ts')>(
  'packages/cli/src/workspace/draft-edits.ts',
)
const { formatAgents } = await old<typeof import('../../../interop/conversation-flows.ts')>(
  'interop/conversation-flows.ts',
)
const { readDraft } = await old<typeof import('@parley/flow')>('packages/flow/src/index.ts')

const home = mkdtempSync(join(tmpdir(), 'parley-old-home.'))
const server = await startTestServer()
const database = new Client({ connectionString: new URL('/postgres', server.templateUrl).href })
await database.connect()
await database.query('create database parley_old')
const url = new URL('/parley_old', server.templateUrl).href
const receiver = createServer((_, response) => response.end())
await once(receiver.listen(RECEIVER_PORT, '127.0.0.1'), 'listening')

const whole = await serve('api,worker,engine')
const client = clientOf()
await makeAgents(client)
await talkInChat(client)
await pause(3000)
await end(whole)

// Without a worker no webhook is sent, so those of these runs stay due.
const apiAlone = await serve('api')
await cancelledChats(clientOf(), 3)
await end(apiAlone)

mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'data.sql.gz'), gzipSync(await dumpRows(url), { level: 9 }))
writeFileSync(join(folder, 'home.json'), `${JSON.stringify(homeFiles(), null, 2)}\n`)
receiver.close()
await database.end()
await server.stop()
rmSync(home, { recursive: true, force: true })

/** Starts `parley serve` of the other checkout; resolves when it is ready. */
async function serve(roles: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(checkout, 'packages/cli/src/main.ts'), 'serve', '--role', roles], {
    cwd: checkout,
    env: {
      ...process.env,
      DATABASE_URL: url,
      PARLEY_HOME: home,
      PARLEY_HTTP_PORT: '0',
      PARLEY_SIP_PORT: '9180',
      PARLEY_SIP_TLS_PORT: '9181',
      PARLEY_RTP_PORTS: '9200-9299',
      PARLEY_EGRESS_ALLOW: `127.0.0.1:${RECEIVER_PORT}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout!.on('data', chunk => {
    output += chunk
  })
  const giveUpAt = performance.now() + READY_TIMEOUT_MS
  while (!output.includes('Parley is ready')) {
    if (performance.now() > giveUpAt || child.exitCode !== null)
      throw new Error(`the platform is not ready:\n${output}`)
    await pause(POLL_MS)
  }
  return child
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGINT')
  await exited
}

function clientOf(): ParleyClient {
  const { api, key } = JSON.parse(readFileSync(join(home, 'demo.json'), 'utf8')) as { api: string; key: string }
  return new ParleyClient({ baseUrl: api, key })
}

/** Publishes an agent of each template and agents with every type of node. The templates' agents send webhooks. */
async function makeAgents(client: ParleyClient): Promise<void> {
  const secret_id = 'hook'
  const { version } = await client.secrets.put({
    params: { secret_id },
    body: { kind: 'webhook_signing', value: 'webhook-secret-of-the-fixture' },
  })
  const secret = { id: secret_id, version }
  const notification = { url: `${ORIGIN}/hooks`, secret, events: ['run.started' as const, 'run.ended' as const] }
  for (const template of ['cloud_chat', 'cloud_task'] as const) {
    const agent_id = template.replace('_', '-')
    const { draft } = await client.agents.create({ body: { template, name: template, agent_id } })
    const { draft_id, revision } = draft!
    const edits = [{ type: 'notification.put' as const, notification }]
    const edited = await client.drafts.edit({
      params: { agent_id },
      body: { draft_id, expected_revision: revision, edits },
    })
    await publish(client, agent_id, draft_id, edited.revision)
  }
  for (const [agent_id, draft] of Object.entries(formatAgents(ORIGIN))) {
    const made = await client.agents.create({ body: { template: 'blank', name: agent_id, agent_id, language: 'en' } })
    const { draft_id } = made.draft!
    let { revision } = made.draft!
    for (const edits of editsFor(readDraft(draft))) {
      const body = { draft_id, expected_revision: revision, edits }
      revision = (await client.drafts.edit({ params: { agent_id }, body })).revision
    }
    await publish(client, agent_id, draft_id, revision)
  }
}

async function publish(client: ParleyClient, agent_id: string, draft_id: string, revision: number): Promise<void> {
  await client.publications.publish({ params: { agent_id }, body: { draft_id, expected_revision: revision } })
}

/** Makes a chat that ends normally and sends its webhooks. */
async function talkInChat(client: ParleyClient): Promise<void> {
  const { run_id } = await client.runs.create({ body: { agent_id: 'cloud-chat', channel: 'cloud', mode: 'chat' } })
  const params = { run_id }
  while ((await client.runs.transcript({ params })).utterances.length === 0) await pause(POLL_MS)
  await client.runs.message({ params, body: { text: 'Can you help me with my order?' } })
  await client.runs.message({ params, body: { text: 'No more questions, goodbye.' } })
  while ((await client.runs.get({ params })).state !== 'completed') await pause(POLL_MS)
}

/** Creates chats and cancels them before a worker starts them. */
async function cancelledChats(client: ParleyClient, count: number): Promise<void> {
  for (let made = 0; made < count; made++) {
    const body = { agent_id: 'cloud-chat', channel: 'cloud', mode: 'chat' } as const
    const { run_id } = await client.runs.create({ body })
    await client.runs.cancel({ params: { run_id } })
  }
}

/** Path to content, base64. */
function homeFiles(): Readonly<Record<string, string>> {
  const paths = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(home.length + 1))
    .filter(path => !EXCLUDED_FILES.test(path))
  return Object.fromEntries(paths.sort().map(path => [path, readFileSync(join(home, path)).toString('base64')]))
}
