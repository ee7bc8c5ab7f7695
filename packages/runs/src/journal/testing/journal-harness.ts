import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '@parley/contract'
import type { Utterance } from '@parley/conversation'
import { SeededRandom, systemTime } from '@parley/kernel'
import {
  admitRun,
  type Database,
  type EventRow,
  listEvents,
  MasterKeySealer,
  openDatabase,
  type RunOwnership,
} from '@parley/store'
import {
  commits,
  localBus,
  OUTBOUND,
  type TcpCut,
  type TestDatabase,
  tcpCut,
  testDatabase,
  workspace,
} from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, type MockInstance, vi } from 'vitest'
import type { OwnedRun } from '../../owned-run.ts'
import { itemsIn } from '../../run-entry.ts'
import { RunLeases } from '../../run-leases.ts'
import { JournalDirectory } from '../io/journal-directory.ts'
import { RecordReader } from '../journal-records.ts'
import type { JournalFile } from '../protocol.ts'
import { replayJournals } from '../replay-journals.ts'
import { RunJournals } from '../run-journals.ts'

export const ENDED = {
  state: 'completed',
  phone_state: 'ended',
  outcome: { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' },
  disposition: 'completed',
} as const

export const SPOKEN: Utterance = {
  index: 0,
  role: 'agent',
  text: 'Hello.',
  segment_id: 's',
  observed_offset_ms: 10.4,
  interrupted: false,
  start_ms: 1,
  end_ms: 9.6,
  node_id: 'n',
}

const SEALER = new MasterKeySealer(new Map([[1, Buffer.alloc(32, 7)]]))

/** Notes the digits `from` to before `to` in the run's timeline. */
export function noteDigits(run: OwnedRun, from: number, to: number): void {
  for (let i = from; i < to; i++) run.note({ kind: 'digits', direction: 'in', digits: `${i}` }, i)
}

export const upTo = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}`)

/** A process that other processes see as dead. After `kill` it writes nothing. */
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

interface KillableRun {
  readonly run: OwnedRun
  readonly kill: () => void
}

/** A run in a process whose database connection can be cut, and the next process of its home, whose connection cannot. */
export class JournalHarness {
  test!: TestDatabase
  relay!: TcpCut
  scope!: Scope
  directory!: string
  killable!: KillableRun
  problems: string[] = []
  /** How the next process renews leases. */
  renewals!: MockInstance<Database['runs']['renew']>
  #cutOff!: Database
  #processes = 0

  /** Installs the hooks for the tests of the calling file. */
  static forEachTest(): JournalHarness {
    const harness = new JournalHarness()
    beforeAll(() => harness.#open())
    afterAll(() => harness.#close())
    beforeEach(() => harness.#begin())
    afterEach(() => harness.#end())
    return harness
  }

  async #open(): Promise<void> {
    this.test = await testDatabase()
    const url = new URL(this.test.owner.url)
    this.relay = await tcpCut(Number(url.port))
    url.port = String(this.relay.port)
    this.#cutOff = await openDatabase({ ownerUrl: url.href })
  }

  async #close(): Promise<void> {
    await this.#cutOff?.close()
    await this.relay?.close()
    await this.test?.close()
  }

  async #begin(): Promise<void> {
    this.directory = join(await mkdtemp(join(tmpdir(), 'parley-journal-')), 'journal')
    this.scope = await workspace(this.test)
    this.problems = []
    this.renewals = vi.spyOn(this.test.database.runs, 'renew')
    this.relay.closed = false
    this.killable = await this.ownedRun()
  }

  async #end(): Promise<void> {
    this.killable.kill()
    this.renewals.mockRestore()
    this.relay.onClientData = null
    this.relay.onServerData = null
    await rm(join(this.directory, '..'), { recursive: true })
  }

  async admitted(): Promise<string> {
    const { test, scope } = this
    const admission = await test.database.transaction(scope, tx => admitRun(tx, scope, { ...OUTBOUND, notifies: true }))
    if (admission.kind === 'refused') throw new Error(admission.reason)
    return admission.run_id
  }

  /** A run in its own process, which can be killed. */
  async ownedRun(): Promise<KillableRun> {
    const disk = new MortalDirectory(this.directory)
    const leases = new RunLeases({
      database: this.#cutOff,
      bus: localBus(),
      journals: this.#journalsOn(disk),
      time: systemTime,
      wallClock: Date.now,
      random: new SeededRandom(7),
      owner: { engine: `engine-${++this.#processes}`, worker: null },
    })
    const run = await leases.claim(this.scope, await this.admitted())
    if (run === null) throw new Error('not claimed')
    const kill = () => {
      disk.isKilled = true
      leases.close()
      run.markLost()
    }
    return { run, kill }
  }

  /** The next process of this home replays the journals that it finds. */
  async nextProcess(): Promise<void> {
    await replayJournals(
      {
        journals: this.#journalsOn(new JournalDirectory(this.directory)),
        database: this.test.database,
        bus: localBus(),
        time: systemTime,
        wallClock: Date.now,
        onProblem: this.#noted,
      },
      new AbortController().signal,
    )
  }

  disconnect(): void {
    this.relay.closed = true
    this.relay.cut()
  }

  /** The next commit reaches the server; its answer and everything after it are lost. */
  loseAnswerToCommit(): void {
    const { relay } = this
    relay.onClientData = piece => {
      if (commits(piece))
        relay.onServerData = () => {
          relay.onClientData = null
          relay.onServerData = null
          relay.closed = true
          return false
        }
      return true
    }
  }

  async timeline(runId: string): Promise<EventRow[]> {
    const { test, scope } = this
    return (await listEvents(test.database.within(scope), scope, runId, { cursor: null, limit: 1000 })).rows
  }

  /** Items in the timeline, which must have no gap. */
  async digitsOf(runId: string): Promise<unknown[]> {
    const rows = await this.timeline(runId)
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
    return rows.flatMap(({ kind, fields }) => (kind === 'digits' ? [fields.digits] : []))
  }

  /** Names of files. */
  async journals(): Promise<string[]> {
    return readdir(this.directory).catch(() => [])
  }

  /** The complete records on disk. */
  async onDisk(owned: RunOwnership): Promise<{ items: number; ends: number }> {
    const name = (await this.journals()).find(of => of.startsWith(owned.run_id)) ?? 'none'
    const file = await new JournalDirectory(this.directory).open(name)
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

  /**
   * Resolves when this many items and ends of the run are on disk. `unanswered`: items whose commit succeeded, but whose answer may
   * have been on its way when the database went away. The journal then holds them as well.
   */
  waitForRecords(run: OwnedRun, items: number, ends = 0, unanswered = 0): Promise<void> {
    const possible = [items, items + unanswered].map(count => ({ items: count, ends }))
    return vi.waitFor(async () => expect(possible).toContainEqual(await this.onDisk(run.owned)))
  }

  #journalsOn(disk: JournalDirectory): RunJournals {
    return new RunJournals({ disk, sealer: SEALER, wallClock: Date.now, onProblem: this.#noted })
  }

  readonly #noted = (what: string, error: unknown): void => {
    this.problems.push(`${what}: ${error instanceof Error ? error.message : ''}`)
  }
}
