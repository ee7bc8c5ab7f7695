import type { Scope } from '@parley/contract'
import { VirtualTime } from '@parley/kernel'
import type { Work } from '@parley/runs'
import {
  admitRun,
  admitSuccessor,
  type JsonObject,
  listEffects,
  listEvents,
  moveRun,
  type Queries,
  type RunMove,
  type RunOwnership,
  type RunRequest,
  readRun,
  storeDial,
  storeDialog,
  writeCheckpoint,
} from '@parley/store'
import { localBus, type TestDatabase } from '@parley/store/testing'
import { vi } from 'vitest'
import { JobCounters } from '../metrics.ts'
import { MemoryEnvironmentQueue } from './memory-environment-queue.ts'

const CALL: RunRequest = {
  agent_id: 'greeter',
  version: 1,
  channel: 'phone',
  mode: 'outbound',
  test: false,
  notifies: false,
  from_number: '+4930111',
  to_number: '+4930222',
  trunk_id: 'carrier',
  caller_identity: null,
  key_id: null,
  can_dial: true,
  metadata: null,
  dynamic_variables: {},
  trigger: { kind: 'api', idempotency_key_sha256: 'a'.repeat(64) },
}
export const CHAT: Partial<RunRequest> = {
  channel: 'cloud',
  mode: 'chat',
  from_number: null,
  to_number: null,
  trunk_id: null,
}

/** For what happens at once, on a machine that others use as well. */
export const SOON = { timeout: 15_000, interval: 20 }

const OVER = { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' }

/** An environment with agents and their runs. The clock of those who sweep stands still until it is moved; the database's does not. */
export class JobsHarness {
  readonly test: TestDatabase
  readonly scope: Scope
  readonly bus = localBus()
  readonly time = new VirtualTime()
  readonly counters = new JobCounters()
  readonly queue = new MemoryEnvironmentQueue()
  readonly problems: string[] = []
  readonly woken: Work[] = []
  readonly log = (what: string, error: unknown) => void this.problems.push(`${what}: ${error}`)
  readonly wake = (work: Work) => void this.woken.push(work)

  private constructor(test: TestDatabase, scope: Scope) {
    this.test = test
    this.scope = scope
  }

  static async open(test: TestDatabase): Promise<JobsHarness> {
    const scope = await test.scope()
    await test.owner.query(
      'update parley.tenants set admission_enabled = true, concurrent_capacity = 1000 where tenant_id = $1',
      [scope.tenant_id],
    )
    const harness = new JobsHarness(test, scope)
    await harness.publish('greeter', {})
    return harness
  }

  async publish(agentId: string, plan: object): Promise<void> {
    const { tenant_id } = this.scope
    await this.test.owner.query("insert into parley.agents (tenant_id, agent_id, name) values ($1, $2, 'A')", [
      tenant_id,
      agentId,
    ])
    await this.test.owner.query(
      `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
         source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
       values ($1, $2, 1, 'sha256:' || repeat('d', 64), 1, '{phone,cloud}', '{en}', 'api', '{}', false, uuidv7(), 1, $3, '{}', '[]')`,
      [tenant_id, agentId, JSON.stringify(plan)],
    )
  }

  async admit(request: Partial<RunRequest> = {}, engine: string | null = null): Promise<RunOwnership> {
    const { scope } = this
    const options = engine === null ? {} : { owner: { engine, worker: null, leaseMs: 60_000 } }
    const admission = await this.write(tx => admitRun(tx, scope, { ...CALL, ...request }, options))
    if (admission.kind !== 'admitted') throw new Error(`refused: ${admission.reason}`)
    return admission.owned ?? { run_id: admission.run_id, fence: '0' }
  }

  /** A run in an engine's hands, as far as it got. */
  async run(
    reached: { readonly moves?: readonly RunMove[]; readonly dial?: JsonObject; readonly dialog?: JsonObject } = {},
    request: Partial<RunRequest> = {},
  ): Promise<RunOwnership> {
    const { scope } = this
    const run = await this.admit(request, 'engine-1')
    await this.write(async tx => {
      for (const move of reached.moves ?? []) await moveRun(tx, scope, run, move)
      if (reached.dial !== undefined) await storeDial(tx, scope, run, reached.dial)
      if (reached.dialog !== undefined) await storeDialog(tx, scope, run, reached.dialog)
    })
    return run
  }

  /** A run of the same engine that continues the call of `source`. */
  async continued(source: RunOwnership, dialog?: JsonObject): Promise<RunOwnership> {
    const { scope } = this
    const request = {
      run_id: crypto.randomUUID(),
      agent_id: 'greeter',
      version: 1,
      effect_id: crypto.randomUUID(),
      dynamic_variables: {},
      notifies: false,
    }
    const owner = { engine: 'engine-1', worker: null, leaseMs: 60_000 }
    const admission = await this.write(tx => admitSuccessor(tx, scope, source, request, owner))
    if (admission.kind !== 'admitted') throw new Error(`refused: ${admission.kind}`)
    const { owned } = admission
    const isPhone = (await this.read(source.run_id)).channel === 'phone'
    await this.write(async tx => {
      await moveRun(tx, scope, owned, { state: 'running', ...(isPhone && { phone_state: 'preparing' as const }) })
      if (dialog !== undefined) await storeDialog(tx, scope, owned, dialog)
    })
    return owned
  }

  /** The conversation so far: texts of the user and the agent in turn. */
  say(run: RunOwnership, ...lines: readonly string[]): Promise<unknown> {
    const utterances = lines.map((text, index) => ({ index, role: index % 2 === 0 ? 'user' : 'agent', text }))
    return this.write(tx => writeCheckpoint(tx, this.scope, run, utterances, {}))
  }

  /** Makes the run look as if its engine had died and had renewed the lease `renewedMsAgo` ago. */
  async kill({ run_id }: Pick<RunOwnership, 'run_id'>, renewedMsAgo = 9000): Promise<void> {
    await this.test.owner.query(
      `update parley.run_ownership set renewed_at = clock_timestamp() - $2 * interval '1 ms',
         lease_until = clock_timestamp() - interval '1 ms' where run_id = $1`,
      [run_id, renewedMsAgo],
    )
  }

  write<Result>(work: (tx: Queries) => Promise<Result>): Promise<Result> {
    return this.test.database.transaction(this.scope, work)
  }

  async read(runId: string) {
    const row = await readRun(this.test.database.within(this.scope), this.scope, runId)
    if (row === null) throw new Error('there is no such run')
    return row
  }

  effects(runId: string) {
    return listEffects(this.test.database.within(this.scope), this.scope, runId)
  }

  async timeline(runId: string): Promise<JsonObject[]> {
    const page = await listEvents(this.test.database.within(this.scope), this.scope, runId, { cursor: null, limit: 50 })
    return page.rows.map(({ kind, fields }) => ({ kind, ...fields }))
  }

  /** Permits that are out. */
  async permits(): Promise<number> {
    const { rows } = await this.test.owner.query('select live from parley.run_counters where tenant_id = $1', [
      this.scope.tenant_id,
    ])
    return rows[0]?.live ?? 0
  }

  /** The run when it has ended. */
  ended(runId: string) {
    return vi.waitFor(async () => {
      const row = await this.read(runId)
      if (row.ended_at === null) throw new Error(`it is ${row.state}, ${this.problems}`)
      return row
    }, SOON)
  }

  /** Ends a run in the usual way. */
  async end(
    run: RunOwnership,
    finish: (tx: Queries, scope: Scope, run: RunOwnership, ending: never) => Promise<unknown>,
  ) {
    await this.write(tx =>
      finish(tx, this.scope, run, { state: 'completed', outcome: OVER, disposition: 'completed' } as never),
    )
  }
}
