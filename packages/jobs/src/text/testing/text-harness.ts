import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Scope } from '@parley/contract'
import type { ActionRunner } from '@parley/conversation'
import type { Plan } from '@parley/flow'
import { systemRandom, systemTime, VirtualTime } from '@parley/kernel'
import { RunLeases } from '@parley/runs'
import {
  admitRun,
  cancelRun,
  type Database,
  listEffects,
  listEvents,
  postMessage,
  type Queries,
  type RunMessage,
  type RunRow,
  readMessage,
  readRun,
  readTranscript,
  type Sealer,
  StoreError,
} from '@parley/store'
import { localBus, type TestDatabase } from '@parley/store/testing'
import { vi } from 'vitest'
import type { TextAgent, TextKind } from '../protocol.ts'
import { startTextRuns, type TextRuns, type TextRunsOptions } from '../text-runs.ts'
import { ScriptedModel } from './scripted-model.ts'

interface HarnessWorker {
  readonly leases: RunLeases
  readonly runs: TextRuns
}

/** Leaves what it seals as it is. */
export const NO_SEALER: Sealer = { seal: plain => plain, open: sealed => sealed }

/**
 * An environment with agents, and workers that carry out its runs. Limits and sweeps are in virtual time; what is
 * written is written in real time.
 */
export class TextHarness {
  readonly test: TestDatabase
  readonly scope: Scope
  readonly bus = localBus()
  readonly time = new VirtualTime()
  readonly model = new ScriptedModel()
  /** The problems that workers reported. */
  readonly problems: string[] = []
  /** What an agent of every plan works with; may be replaced. */
  agent: () => Promise<TextAgent> = async () => ({
    models: () => this.model,
    actions: () => ({ run: (...request) => this.runAction(...request) }),
    transferPolicy: () => ({ decision: 'deny', reason: 'destination_not_allowed', policy_version: '1' }),
  })
  /** Nothing can be written. */
  isAway = false
  /** Number of the next writes that are committed without an answer: the connection breaks first. */
  cutCommits = 0
  /** Writes that were tried meanwhile. */
  refusals = 0
  /** Carries out the actions of the agents; default: they have none. */
  runAction: ActionRunner['run'] = () => Promise.reject(new Error('no actions here'))
  /** Runs once, when a worker has read which runs wait and before it claims them. */
  beforeClaims: (() => Promise<void>) | null = null
  /** How often workers have looked for waiting runs. */
  #looks = 0
  readonly #workers: HarnessWorker[] = []

  private constructor(test: TestDatabase, scope: Scope) {
    this.test = test
    this.scope = scope
  }

  static async open(test: TestDatabase): Promise<TextHarness> {
    const scope = await test.scope()
    await test.owner.query(
      'update parley.tenants set admission_enabled = true, concurrent_capacity = 100 where tenant_id = $1',
      [scope.tenant_id],
    )
    return new TextHarness(test, scope)
  }

  async publish(agentId: string, plan: Plan): Promise<void> {
    const { scope, test } = this
    await test.owner.query("insert into parley.agents (tenant_id, agent_id, name) values ($1, $2, 'A')", [
      scope.tenant_id,
      agentId,
    ])
    await test.owner.query(
      `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
         source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
       values ($1, $2, 1, 'd', 1, '{cloud}', '{en}', 'api', '{}', false, uuidv7(), 1, $3, '{}', '[]')`,
      [scope.tenant_id, agentId, JSON.stringify(plan)],
    )
  }

  /** Admits a run without a wake-up. */
  async admit(mode: TextKind, agentId: string): Promise<string> {
    const { scope, test } = this
    const admission = await test.database.transaction(scope, tx =>
      admitRun(tx, scope, {
        agent_id: agentId,
        version: 1,
        channel: 'cloud',
        mode,
        test: false,
        notifies: true,
        from_number: null,
        to_number: null,
        trunk_id: null,
        caller_identity: null,
        key_id: null,
        can_dial: false,
        metadata: null,
        dynamic_variables: { name: 'Ada' },
        trigger: { kind: 'api', idempotency_key_sha256: 'a'.repeat(64) },
      }),
    )
    if (admission.kind !== 'admitted') throw new Error(`refused: ${admission.reason}`)
    return admission.run_id
  }

  /** Admits a run and wakes the workers. */
  async run(mode: TextKind, agentId: string): Promise<string> {
    const runId = await this.admit(mode, agentId)
    for (const { runs } of this.#workers) void runs.wake({ kind: mode, run_id: runId, scope: this.scope })
    return runId
  }

  worker(options: Pick<TextRunsOptions, 'maxLive'> = {}): HarnessWorker {
    const { bus, time } = this
    const database = this.#database()
    const wallClock = () => Date.now()
    const owner = { engine: randomUUID(), worker: 'text' }
    const leases = new RunLeases({
      database,
      bus,
      sealer: NO_SEALER,
      owner,
      time: systemTime,
      wallClock,
      random: systemRandom,
    })
    const runs = startTextRuns({
      leases,
      database,
      bus,
      time,
      wallClock,
      ...options,
      agents: () => this.agent(),
      log: (what, error) => this.problems.push(`${what}: ${error}`),
    })
    const worker = { leases, runs }
    this.#workers.push(worker)
    return worker
  }

  /** Stores a message of a chat without a wake-up. */
  async post(runId: string, text: string): Promise<string> {
    return (await this.#post(runId, text)).message_id
  }

  /** Says something in a chat. */
  async say(runId: string, text: string): Promise<string> {
    const { message_id, run_id } = await this.#post(runId, text)
    this.bus.publish('run_orders', run_id)
    return message_id
  }

  async #post(runId: string, text: string): Promise<RunMessage> {
    const message_id = randomUUID()
    const posted = await this.#write(tx => postMessage(tx, this.scope, runId, { message_id, text }))
    if (typeof posted === 'string') throw new Error(posted)
    return posted
  }

  /** Says something in a chat, and what came of it when it is settled. */
  async answer(runId: string, text: string): Promise<RunMessage> {
    return this.settled(await this.say(runId, text))
  }

  settled(messageId: string): Promise<RunMessage> {
    return this.eventually(async () => {
      const message = await this.message(messageId)
      return message?.answered_at === null ? null : message
    })
  }

  message(messageId: string): Promise<RunMessage | null> {
    return readMessage(this.#within, this.scope, messageId)
  }

  /** Somebody wants the run to end. */
  async cancel(runId: string): Promise<void> {
    await this.#write(tx => cancelRun(tx, this.scope, runId))
    this.bus.publish('run_orders', runId)
  }

  async read(runId: string): Promise<RunRow> {
    const row = await readRun(this.#within, this.scope, runId)
    if (row === null) throw new Error('there is no such run')
    return row
  }

  /** The run when it has ended. */
  ended(runId: string): Promise<RunRow> {
    return this.reaches(runId, row => row.ended_at !== null)
  }

  reaches(runId: string, isThere: (row: RunRow) => boolean): Promise<RunRow> {
    return this.eventually(async () => {
      const row = await this.read(runId)
      return isThere(row) ? row : null
    })
  }

  effects(runId: string) {
    return listEffects(this.#within, this.scope, runId)
  }

  /** The timeline as words: `state running`, `agent: Hello.`, `node talk`. */
  async timeline(runId: string): Promise<string[]> {
    const { rows } = await listEvents(this.#within, this.scope, runId, { cursor: null, limit: 200 })
    return rows.map(({ kind, fields }) => {
      const { state, role, text, node_id, phase, code } = fields
      if (kind === 'utterance') return `${role}: ${text}`
      return `${kind} ${state ?? phase ?? code ?? node_id}`
    })
  }

  transcript(runId: string) {
    return readTranscript(this.#within, this.scope, runId)
  }

  /** Names of the webhooks that are to be sent. */
  async announced(runId: string): Promise<string[]> {
    const { rows } = await this.test.owner.query(
      'select event from parley.outbox where run_id = $1 order by outbox_id',
      [runId],
    )
    return rows.map(row => row.event)
  }

  /** What was measured of the model `test/scripted`. */
  async used(runId: string): Promise<Readonly<Record<string, number>>> {
    const { rows } = await this.test.owner.query(
      `select meter, quantity from parley.usage_measurements
       where run_id = $1 and provider = 'test' and model_id = 'scripted' order by meter`,
      [runId],
    )
    return Object.fromEntries(rows.map(({ meter, quantity }) => [meter, Number(quantity)]))
  }

  /** Permits that are out, by the counter and by the rows. */
  async permits(): Promise<{ readonly live: number; readonly permits: number }> {
    const { rows } = await this.test.owner.query(
      `select coalesce((select live from parley.run_counters where tenant_id = $1), 0) as live,
         (select count(*)::int from parley.run_ownership where tenant_id = $1) as permits`,
      [this.scope.tenant_id],
    )
    return rows[0]
  }

  /** Somebody else takes the run over; its owner notices soon, or `quietly` when it writes next. */
  async takeOver(runId: string, { quietly = false } = {}): Promise<void> {
    await this.test.owner.query(
      `update parley.run_ownership set engine = 'other', fence = fence + 1, lease_until = now() + interval '1 min'
       where run_id = $1`,
      [runId],
    )
    if (!quietly) this.bus.publish('run_orders', runId)
  }

  /** Workers have looked for work, and taken what they take of it. */
  async swept(): Promise<void> {
    // A look begins when the one before is done with all that it found.
    for (let sweep = 0; sweep < 2; sweep++) {
      const before = this.#looks
      this.time.advance(2000)
      await this.eventually(() => this.#looks >= before + 2 * this.#workers.length)
    }
  }

  /** What `look` finds, once it finds something. */
  eventually<Found>(look: () => Promise<Found | null | false> | Found | null | false): Promise<Found> {
    return vi.waitFor(
      async () => {
        const found = await look()
        if (found === null || found === false) throw new Error('not yet')
        return found
      },
      { timeout: 30_000, interval: 5 },
    )
  }

  /** Lets virtual time pass, 20 ms at a time, until `work` is done. */
  async passing<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false
    void work.finally(() => {
      isDone = true
    })
    while (!isDone) {
      await pause(1)
      this.time.advance(20)
    }
    return work
  }

  async close(): Promise<void> {
    this.isAway = false
    for (const { runs, leases } of this.#workers) {
      await this.passing(runs.close(0))
      leases.close()
    }
    // Workers look across tenants: what still waits would be found by those of the next test.
    await this.test.owner.query('delete from parley.run_ownership where tenant_id = $1', [this.scope.tenant_id])
  }

  get #within(): Queries {
    return this.test.database.within(this.scope)
  }

  #write<Result>(work: (tx: Queries) => Promise<Result>): Promise<Result> {
    return this.test.database.transaction(this.scope, work)
  }

  readonly #waiting: Database['runs']['waiting'] = async (kind, atMost, underWay) => {
    const waiting = await this.test.database.runs.waiting(kind, atMost, underWay)
    const { beforeClaims } = this
    this.beforeClaims = null
    await beforeClaims?.()
    this.#looks++
    return waiting
  }

  readonly #cutOff: Database['transaction'] = async (scope, work) => {
    this.cutCommits--
    await this.test.database.transaction(scope, work)
    throw new StoreError('outcome_unknown', 'the connection went')
  }

  #refuse(): Promise<never> {
    this.refusals++
    return Promise.reject(new StoreError('database_unavailable', 'away'))
  }

  /** The test's own database, which can be away for workers. */
  #database(): Database {
    const harness = this
    return new Proxy(this.test.database, {
      get(database, name: keyof Database) {
        if (harness.isAway && name === 'transaction') return () => harness.#refuse()
        if (harness.cutCommits > 0 && name === 'transaction') return harness.#cutOff
        if (name === 'runs') return { ...database.runs, waiting: harness.#waiting }
        const member = database[name]
        return typeof member === 'function' ? member.bind(database) : member
      },
    })
  }
}
