import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Scope } from '@parley/contract'
import type { Utterance } from '@parley/conversation'
import { SeededRandom, systemTime } from '@parley/kernel'
import {
  admitRun,
  type Database,
  listEffects,
  listEvents,
  MasterKeySealer,
  type OwnedRun,
  openDatabase,
  readRun,
  readTranscript,
} from '@parley/store'
import {
  counted,
  letLeaseEnd,
  localBus,
  OUTBOUND,
  type TcpCut,
  type TestDatabase,
  tcpCut,
  testDatabase,
  workspace,
} from '@parley/store/testing'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, type MockInstance, vi } from 'vitest'
import type { HeldRun } from '../held-run.ts'
import { RunDesk } from '../run-desk.ts'
import { itemsIn } from '../run-entry.ts'
import { JournalDirectory } from './io/journal-directory.ts'
import { RecordReader } from './journal-records.ts'
import { landJournals } from './land-journals.ts'
import type { JournalFile } from './protocol.ts'
import { RunJournals } from './run-journals.ts'

const ENDED = {
  state: 'completed',
  phone_state: 'ended',
  outcome: { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' },
  disposition: 'completed',
} as const
const PROGRAM = fileURLToPath(new URL('fixtures/tell-until-killed.ts', import.meta.url))
const SEALER = new MasterKeySealer(new Map([[1, Buffer.alloc(32, 7)]]))

/** A process that another sees as dead; from `kill` on it touches nothing. */
class MortalDirectory extends JournalDirectory {
  isKilled = false

  override async mark(): Promise<string> {
    return '4194305-1'
  }

  override async create(name: string): Promise<JournalFile> {
    const file = await super.create(name)
    return {
      write: (bytes, at) => (this.isKilled ? Promise.reject(new Error('killed')) : file.write(bytes, at)),
      read: (at, length) => file.read(at, length),
      close: () => file.close(),
    }
  }

  override async remove(name: string): Promise<void> {
    if (!this.isKilled) await super.remove(name)
  }
}

let test: TestDatabase
let relay: TcpCut
let cutOff: Database
let directory: string
beforeAll(async () => {
  test = await testDatabase()
  const url = new URL(test.owner.url)
  relay = await tcpCut(Number(url.port))
  url.port = String(relay.port)
  cutOff = await openDatabase({ ownerUrl: url.href })
})
afterAll(async () => {
  await cutOff?.close()
  await relay?.close()
  await test?.close()
})

let scope: Scope
let doomed: { readonly run: HeldRun; readonly kill: () => void }
let problems: string[]
/** How the next process asks for leases. */
let renewals: MockInstance<Database['runs']['renew']>
beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'parley-journal-')), 'journal')
  scope = await workspace(test)
  problems = []
  renewals = vi.spyOn(test.database.runs, 'renew')
  relay.closed = false
  doomed = await held()
})
afterEach(async () => {
  doomed.kill()
  renewals.mockRestore()
  relay.onClientData = null
  relay.onServerData = null
  await rm(join(directory, '..'), { recursive: true })
})

async function admitted(): Promise<string> {
  const admission = await test.database.transaction(scope, tx => admitRun(tx, scope, { ...OUTBOUND, notifies: true }))
  if (admission.kind === 'refused') throw new Error(admission.reason)
  return admission.run_id
}

let processes = 0
async function held(): Promise<typeof doomed> {
  const disk = new MortalDirectory(directory)
  const journals = new RunJournals({ disk, sealer: SEALER, wallClock: Date.now, onProblem: noted })
  const desk = new RunDesk({
    ...{ database: cutOff, bus: localBus(), journals },
    ...{ time: systemTime, wallClock: Date.now, random: new SeededRandom(7) },
    owner: { engine: `engine-${++processes}`, worker: null },
  })
  const run = await desk.claim(scope, await admitted())
  if (run === null) throw new Error('not claimed')
  const kill = () => {
    disk.isKilled = true
    desk.close()
    run.lose()
  }
  return { run, kill }
}

const noted = (what: string, error: unknown) =>
  void problems.push(`${what}: ${error instanceof Error ? error.message : ''}`)

/** The next process of this home. */
async function nextProcess(): Promise<void> {
  const disk = new JournalDirectory(directory)
  const journals = new RunJournals({ disk, sealer: SEALER, wallClock: Date.now, onProblem: noted })
  const { database } = test
  await landJournals(
    {
      ...{ journals, database, bus: localBus() },
      ...{ time: systemTime, wallClock: Date.now, onProblem: noted },
    },
    new AbortController().signal,
  )
}

function goAway(): void {
  relay.closed = true
  relay.cut()
}

/** The next commit reaches the server; its answer does not come back, and nothing else does. */
function loseAnswerToCommit(): void {
  relay.onClientData = piece => {
    if (piece.includes('commit\0'))
      relay.onServerData = () => {
        relay.onClientData = null
        relay.onServerData = null
        relay.closed = true
        return false
      }
    return true
  }
}

const say = (run: HeldRun, from: number, to: number) => {
  for (let i = from; i < to; i++) run.note({ kind: 'digits', direction: 'in', digits: `${i}` }, i)
}

const timeline = async (runId: string) =>
  (await listEvents(test.database.within(scope), scope, runId, { cursor: null, limit: 1000 })).rows

async function digitsOf(runId: string): Promise<unknown[]> {
  const rows = await timeline(runId)
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
  return rows.flatMap(({ kind, fields }) => (kind === 'digits' ? [fields.digits] : []))
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => `${i}`)
const journals = () => readdir(directory).catch(() => [])
/** What lies on disk, as far as it is whole. */
async function onDisk(owned: OwnedRun): Promise<{ items: number; ends: number }> {
  const name = (await journals()).find(of => of.startsWith(owned.run_id)) ?? 'none'
  const file = await new JournalDirectory(directory).open(name)
  try {
    const reader = new RecordReader(file, SEALER, owned)
    await reader.head()
    let [items, ends] = [0, 0]
    for (let record = await reader.record(); record !== null; record = await reader.record()) {
      if (record.type === 'end') ends++
      else items += itemsIn(record.batch)
    }
    return { items, ends }
  } finally {
    await file.close()
  }
}

const kept = (run: HeldRun, items: number, ends = 0) =>
  vi.waitFor(async () => expect(await onDisk(run.owned)).toEqual({ items, ends }), { timeout: 5000 })

const SPOKEN: Utterance = {
  ...{ index: 0, role: 'agent', text: 'Hello.', segment_id: 's', observed_offset_ms: 10.4 },
  ...{ interrupted: false, start_ms: 1, end_ms: 9.6, node_id: 'n' },
}

it('writes nothing to disk while the database is there', async () => {
  const { run } = doomed
  say(run, 0, 300)
  await vi.waitFor(async () => expect(await digitsOf(run.runId)).toEqual(upTo(300)))
  expect(await journals()).toEqual([])
})

it('carries a killed process’s timeline, transcript and inference into its run, whole and once', async () => {
  const { run } = doomed
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  say(run, 0, 10)
  await vi.waitFor(async () => expect(await digitsOf(run.runId)).toEqual(upTo(10)))
  goAway()
  say(run, 10, 300)
  run.checkpoint([SPOKEN])
  const infer = { id: 'model.infer', version: 1 }
  const asked = await run.ledger.intend({ kind: 'gateway_inference', action: infer, node_id: 'n', ordinal: null })
  await run.ledger.sending(asked.effect_id)
  await run.ledger.settle(asked.effect_id, { state: 'succeeded' })
  await kept(run, 290)
  const [name] = await journals()
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  expect((await stat(join(directory, name!))).mode & 0o777).toBe(0o600)
  doomed.kill()
  await letLeaseEnd(test, run.owned)
  await nextProcess()
  expect(await digitsOf(run.runId)).toEqual(upTo(300))
  const within = test.database.within(scope)
  expect(await readTranscript(within, scope, run.runId)).toMatchObject({ utterances: [{ text: 'Hello.' }] })
  expect(await listEffects(within, scope, run.runId)).toHaveLength(1)
  expect(await journals()).toEqual([])
  expect(problems).toEqual([])
})

it('loses nothing that lay on disk when a process is killed in the middle of it', { timeout: 60_000 }, async () => {
  const url = new URL(test.owner.url)
  url.port = String(relay.port)
  const runId = await admitted()
  const child = spawn(process.execPath, [PROGRAM, url.href, directory, JSON.stringify(scope), runId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let told = 0
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      told = Number(text.trimEnd().split('\n').at(-1))
    })
    await vi.waitFor(async () => expect((await digitsOf(runId)).length).toBeGreaterThan(50), { timeout: 40_000 })
    goAway()
    const before = told
    await vi.waitFor(async () => expect((await onDisk({ run_id: runId, fence: '1' })).items).toBeGreaterThan(200), {
      timeout: 5000,
    })
    // A living process's journal is its own.
    await nextProcess()
    expect(await journals()).toHaveLength(1)
    const { items } = await onDisk({ run_id: runId, fence: '1' })
    child.kill('SIGKILL')
    await once(child, 'exit')
    await letLeaseEnd(test, { run_id: runId })
    await nextProcess()
    const landed = await digitsOf(runId)
    expect(landed).toEqual(upTo(landed.length))
    expect(landed.length).toBeGreaterThanOrEqual(Math.max(before, items))
    expect(problems).toEqual([])
  } finally {
    child.kill('SIGKILL')
  }
})

it('ends a run whose owner was killed before it could', async () => {
  const { run } = doomed
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  await vi.waitFor(async () => expect(await timeline(run.runId)).toHaveLength(2))
  goAway()
  run.checkpoint([SPOKEN])
  void run.finish({ ...ENDED, connected_ms: 800 })
  await kept(run, 0, 1)
  doomed.kill()
  await nextProcess()
  expect(await readRun(test.database.within(scope), scope, run.runId)).toMatchObject({
    state: 'completed',
    connected_ms: 800,
  })
  expect(await readTranscript(test.database.within(scope), scope, run.runId)).toMatchObject({ state: 'complete' })
  expect(await counted(test, scope)).toMatchObject({ live: 0, permits: 0 })
})

it.each([{ becomes: 'killed' }, { becomes: 'on its own again' }])(
  'writes nothing twice where the answer to a commit was lost: $becomes',
  async ({ becomes }) => {
    const { run } = doomed
    loseAnswerToCommit()
    say(run, 0, 10)
    await vi.waitFor(async () => expect(await digitsOf(run.runId)).toEqual(upTo(10)))
    say(run, 10, 20)
    await kept(run, 20)
    if (becomes === 'killed') {
      doomed.kill()
      await nextProcess()
    } else relay.closed = false
    await vi.waitFor(async () => expect(await digitsOf(run.runId)).toEqual(upTo(20)), { timeout: 5000 })
    await vi.waitFor(async () => expect(await journals()).toEqual([]))
    expect(problems).toEqual([])
  },
)

it.each([{ becomes: 'killed' }, { becomes: 'on its own again' }])(
  'announces once what was alone in a commit whose answer was lost: $becomes',
  async ({ becomes }) => {
    const { run } = doomed
    const announced = async () => {
      const text = "select event from parley.outbox where run_id = $1 and event = 'run.transfer'"
      return (await test.owner.query(text, [run.runId])).rows.length
    }
    loseAnswerToCommit()
    run.announce('run.transfer')
    await vi.waitFor(async () => expect(await announced()).toBe(1))
    say(run, 0, 10)
    await kept(run, 10)
    if (becomes === 'killed') {
      doomed.kill()
      await nextProcess()
    } else relay.closed = false
    await vi.waitFor(async () => expect(await digitsOf(run.runId)).toEqual(upTo(10)), { timeout: 5000 })
    expect(await announced()).toBe(1)
    // Another transfer is another event.
    if (becomes === 'killed') return
    run.announce('run.transfer')
    await vi.waitFor(async () => expect(await announced()).toBe(2))
  },
)

it('goes on where a process was killed while it caught up', async () => {
  const { run } = doomed
  goAway()
  say(run, 0, 700)
  await kept(run, 700)
  let commits = 0
  relay.onClientData = piece => {
    if (!piece.includes('commit\0') || ++commits < 3) return true
    relay.closed = true
    return false
  }
  relay.closed = false
  await vi.waitFor(() => expect(relay.closed).toBe(true), { timeout: 5000 })
  doomed.kill()
  expect(await digitsOf(run.runId)).toEqual(upTo(400))
  await nextProcess()
  expect(await digitsOf(run.runId)).toEqual(upTo(700))
  expect(problems).toEqual([])
})

it('goes on by itself, in order, when the database is back', async () => {
  const { run } = doomed
  goAway()
  run.note({ kind: 'state', state: 'running', phone_state: 'active' })
  say(run, 0, 250)
  await kept(run, 251)
  say(run, 250, 500)
  relay.closed = false
  say(run, 500, 510)
  expect(await run.finish(ENDED)).toBe('finished')
  expect(await digitsOf(run.runId)).toEqual(upTo(510))
  expect(await journals()).toEqual([])
})

it('waits for a transaction of the dead process that the server has not given up', async () => {
  const { run } = doomed
  goAway()
  say(run, 0, 30)
  await kept(run, 30)
  doomed.kill()
  await letLeaseEnd(test, run.owned)
  const owner = new Client({ connectionString: test.owner.url })
  await owner.connect()
  try {
    await owner.query('begin')
    await owner.query('select from parley.run_ownership where run_id = $1 for no key update', [run.runId])
    let isDone = false
    const landing = nextProcess().finally(() => {
      isDone = true
    })
    await vi.waitFor(() => expect(renewals.mock.calls.length).toBeGreaterThan(2), { timeout: 10_000 })
    expect(isDone).toBe(false)
    expect(await journals()).toHaveLength(1)
    await owner.query('rollback')
    await landing
  } finally {
    await owner.end()
  }
  expect(await digitsOf(run.runId)).toEqual(upTo(30))
  expect(problems).toEqual([])
})

it('keeps what it has not come to yet from the reaper, and writes many half seconds at once', async () => {
  const other = await held()
  try {
    const [first, second] = [doomed.run, other.run].sort((a, b) => (a.runId < b.runId ? -1 : 1))
    goAway()
    for (let i = 0; i < 4; i++) {
      say(second!, 10 * i, 10 * i + 10)
      await kept(second!, 10 * i + 10)
    }
    say(first!, 0, 1)
    await kept(first!, 1)
    doomed.kill()
    other.kill()
    await letLeaseEnd(test, first!.owned)
    await letLeaseEnd(test, second!.owned)
    const owner = new Client({ connectionString: test.owner.url })
    await owner.connect()
    try {
      // The first cannot be written for as long as this is not taken back.
      await owner.query('begin')
      await owner.query(
        "insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields) values ($1, $2, 2, now(), 'obstacle', '{}')",
        [scope.tenant_id, first!.runId],
      )
      const landing = nextProcess()
      const text = 'select 1 from parley.run_ownership where run_id = $1 and lease_until > clock_timestamp()'
      const isHeld = async () => expect((await test.owner.query(text, [second!.runId])).rows).toHaveLength(1)
      await vi.waitFor(isHeld, { timeout: 10_000 })
      // Longer than a lease: it is renewed again and again.
      const before = renewals.mock.calls.length
      await vi.waitFor(() => expect(renewals.mock.calls.length).toBeGreaterThan(before + 3), { timeout: 15_000 })
      const reaped = await test.database.runs.reap({ engine: 'worker', worker: 'reaper' }, 10)
      expect(reaped.map(({ run_id }) => run_id)).not.toContain(second!.runId)
      await owner.query('rollback')
      await landing
    } finally {
      await owner.end()
    }
    expect(await digitsOf(first!.runId)).toEqual(upTo(1))
    expect(await digitsOf(second!.runId)).toEqual(upTo(40))
    const text = "select distinct xmin::text from parley.run_events where run_id = $1 and kind = 'digits'"
    expect((await test.owner.query(text, [second!.runId])).rows).toHaveLength(1)
    expect(problems).toEqual([])
    expect(await journals()).toEqual([])
  } finally {
    other.kill()
  }
}, 60_000)

it('says how much is lost where somebody else has the run by now', async () => {
  const { run } = doomed
  goAway()
  say(run, 0, 30)
  await kept(run, 30)
  doomed.kill()
  await letLeaseEnd(test, run.owned)
  const reaped = await test.database.runs.reap({ engine: 'worker', worker: 'reaper' }, 10)
  expect(reaped.map(({ run_id }) => run_id)).toContain(run.runId)
  await nextProcess()
  expect(await digitsOf(run.runId)).toEqual([])
  expect(problems).toEqual([`30 items of run ${run.runId} are lost: it ended before they could be written`])
  expect(await journals()).toEqual([])
})
