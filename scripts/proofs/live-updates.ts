import { setTimeout as pause } from 'node:timers/promises'
import type { ParleyClient } from '@parley/client'
import { type Random, randomBelow, SeededRandom } from '@parley/kernel'
import { draftOf, promptNode } from '../../interop/conversation-flows.ts'
import { CallHarness } from './calls/call-harness.ts'
import type { Line } from './calls/carrier-lines.ts'
import {
  Follower,
  INITIAL,
  patientClient,
  sendUpdate,
  startCall,
  timelineOf,
  turnsOf,
  WatchedUpdate,
  waitForTurns,
} from './live-updates/followed-run.ts'
import { StreamProxy } from './live-updates/stream-proxy.ts'
import { deadlineFaults, type Item, type Sent, streamFaults, turnFaults } from './live-updates/update-checks.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const LINE: Line = 'udp'
const AGENT = 'reminder'
/** Longer than an update's deadline, so that the deadline passes before another engine takes over the runs of a stopped engine. */
const LEASE_MS = 60_000
/** Longest time from an update's deadline until its receipt is `indeterminate`. */
const SLACK_MS = 3000
const ACTIVE_WITHIN_MS = 120_000
const TURNS_WITHIN_MS = 120_000
const STREAMS_WITHIN_MS = 180_000
/** Longer than one turn of the agent. */
const CYCLE_MS = 6000

const WORDS = ['apple', 'bread', 'candle', 'desert', 'engine', 'forest', 'garden', 'hammer', 'island', 'jacket']

/** An agent that repeats a question with the variable `word`, because the caller stays silent. */
const REMINDER = draftOf(
  [promptNode('ask', 'Ask "Is it {{word}}?"')],
  {},
  {
    settings: {
      reminderTriggerMs: 600,
      reminderMaxCount: 100,
      endCallAfterSilenceMs: 600_000,
      maxCallDurationMs: 1_800_000,
    },
    recording: { required: false, channels: 'dual', signed_urls: true },
  },
)

/** Parameters of the proof. */
interface LiveUpdatesOptions {
  /** Updates of each call before the engine is paused. */
  readonly updates: number
  /** Number of times that the engine is paused (SIGSTOP) for longer than a deadline. */
  readonly stops: number
  /** Whether the engine is killed in the end; otherwise the calls are cancelled. */
  readonly killsEngine: boolean
}

const LONG: LiveUpdatesOptions = { updates: 8, stops: 3, killsEngine: true }

/** A call whose updates are checked. */
interface CheckedLiveCall {
  readonly run_id: string
  readonly follower: Follower
  readonly updates: Sent[]
  /** Updates that no process could apply. */
  readonly late: WatchedUpdate[]
}

/**
 * Changes variables of live calls. An update with the receipt `applied` is in the agent's next turn. If the engine is paused or
 * killed, the receipt is `indeterminate` from the deadline on and stays so. All event streams are cut at moments that the seed
 * chooses, and once by a kill of the API: each event arrives once and in order, up to the end. The same checks must report the
 * planted faults.
 */
export async function proveLiveUpdates(
  options: ProofOptions,
  overrides: Partial<LiveUpdatesOptions> = {},
): Promise<ProofOutcome> {
  const harness = await CallHarness.open({
    processes: ['api,worker', 'engine'],
    numbers: [{ number: '*', behaviour: { do: 'answer' } }],
    lines: [LINE],
    env: { PARLEY_LEASE_MS: String(LEASE_MS) },
  })
  const random = new SeededRandom(options.seed)
  const proxies: StreamProxy[] = []
  try {
    for (const shift of [0, -1, 1] as const) proxies.push(await StreamProxy.open(harness.url, { cuts: random, shift }))
    await harness.set({ set: 'rate_limit', value: { per_second: 100_000, burst: 100_000 } })
    await harness.publish(AGENT, REMINDER, LINE)
    return await new LiveUpdates(harness, proxies, random, options, { ...LONG, ...overrides }).run()
  } finally {
    for (const proxy of proxies) await proxy.close()
    await harness.close()
  }
}

class LiveUpdates {
  readonly #harness: CallHarness
  readonly #proxies: readonly StreamProxy[]
  readonly #random: Random
  readonly #proof: ProofOptions
  readonly #options: LiveUpdatesOptions
  #calls: readonly CheckedLiveCall[] = []
  #planted: CheckedLiveCall | null = null
  #shifted: readonly Follower[] = []
  #words = 0

  constructor(
    harness: CallHarness,
    proxies: readonly StreamProxy[],
    random: Random,
    proof: ProofOptions,
    options: LiveUpdatesOptions,
  ) {
    this.#harness = harness
    this.#proxies = proxies
    this.#random = random
    this.#proof = proof
    this.#options = options
  }

  async run(): Promise<ProofOutcome> {
    const { stops, killsEngine } = this.#options
    await this.#begin()
    await Promise.all([...this.#calls.map(call => this.#update(call)), this.#updateLate()])
    for (let stop = 0; stop < stops; stop++) await this.#stopEngine()
    await this.#restartApi()
    if (killsEngine) await this.#killEngine()
    else
      await Promise.all(
        this.#checkedCalls.map(({ run_id }) => this.#client.runs.cancel({ params: { run_id }, body: {} })),
      )
    await this.#streamsEnd()
    return this.#outcome()
  }

  get #client(): ParleyClient {
    return this.#harness.client
  }

  get #checkedCalls(): readonly CheckedLiveCall[] {
    return this.#planted === null ? this.#calls : [...this.#calls, this.#planted]
  }

  /** Starts one call more than are checked; it has the planted fault of late updates. */
  async #begin(): Promise<void> {
    const numbers = Array.from({ length: this.#proof.count + 1 }, (_, call) => `+1415555${1000 + call}`)
    const calls = await Promise.all(
      numbers.map(async (to): Promise<CheckedLiveCall> => {
        const run_id = await startCall(this.#harness, AGENT, to, ACTIVE_WITHIN_MS)
        return { run_id, follower: this.#follower(this.#proxies[0]!, run_id), updates: [], late: [] }
      }),
    )
    this.#planted = calls.pop()!
    this.#calls = calls
    this.#shifted = this.#proxies.slice(1).map(proxy => this.#follower(proxy, calls[0]!.run_id))
    this.#proof.progress(`${calls.length} calls are active`)
  }

  #follower(proxy: StreamProxy, run_id: string): Follower {
    return new Follower(patientClient(proxy.url, this.#harness.key), run_id)
  }

  /** Updates the agent's word at moments of its turns that the seed chooses. */
  async #update(call: CheckedLiveCall): Promise<void> {
    for (let time = 0; time < this.#options.updates; time++) {
      await pause(randomBelow(this.#random, CYCLE_MS))
      await this.#updateOnce(call)
    }
  }

  /** Sends one update and waits for two turns: the current one, and the one that must contain the update. */
  async #updateOnce({ run_id, follower, updates }: CheckedLiveCall): Promise<void> {
    updates.push(await sendUpdate(this.#client, run_id, this.#word()))
    await waitForTurns(follower, 2, TURNS_WITHIN_MS)
  }

  /** The planted fault: an update that is sent two turns later than its recorded times say. */
  async #updateLate(): Promise<void> {
    const { run_id, follower, updates } = this.#planted!
    const at = Date.now()
    await waitForTurns(follower, 2, TURNS_WITHIN_MS)
    const sent = await sendUpdate(this.#client, run_id, this.#word())
    updates.push({ ...sent, sentAt: at, appliedAt: at })
  }

  /** Stops the engine until an update's deadline has passed. The resumed engine must not apply that update, but must apply the next. */
  async #stopEngine(): Promise<void> {
    const { engine } = this.#harness
    await pause(randomBelow(this.#random, CYCLE_MS))
    engine.signal('SIGSTOP')
    try {
      await this.#updatesRunOut()
    } finally {
      engine.signal('SIGCONT')
    }
    await Promise.all(this.#calls.map(call => this.#updateOnce(call)))
  }

  async #updatesRunOut(): Promise<void> {
    await Promise.all(
      this.#calls.map(async ({ run_id, late }) => {
        const update = new WatchedUpdate(run_id, this.#word())
        late.push(update)
        await update.settled(this.#client, 2 * SLACK_MS)
      }),
    )
    this.#proof.progress('the deadlines of the updates without an engine have passed')
  }

  async #restartApi(): Promise<void> {
    const { api } = this.#harness
    for (const proxy of this.#proxies) proxy.target = null
    await api.kill()
    await api.start()
    await this.#harness.findApi()
    for (const proxy of this.#proxies) proxy.target = this.#harness.url
    this.#proof.progress('the API was killed and restarted')
  }

  async #killEngine(): Promise<void> {
    const { engine } = this.#harness
    await engine.kill()
    await this.#updatesRunOut()
    await engine.start()
  }

  async #streamsEnd(): Promise<void> {
    const followers = [...this.#checkedCalls.map(({ follower }) => follower), ...this.#shifted]
    const timer = setTimeout(() => {
      for (const follower of followers) follower.stop()
    }, STREAMS_WITHIN_MS)
    await Promise.all(followers.map(({ done }) => done)).finally(() => clearTimeout(timer))
  }

  async #outcome(): Promise<ProofOutcome> {
    const faults: string[] = []
    for (const call of this.#calls) faults.push(...(await this.#faultsOf(call)))
    const timeline = await timelineOf(this.#client, this.#calls[0]!.run_id)
    const ofShifted = this.#shifted.map(({ items, hasEnded }) => streamFaults(items, timeline, hasEnded))
    const late = this.#planted!
    const ofLate = turnFaults(await turnsOf(this.#client, late.run_id), late.updates, INITIAL)
    const planted = {
      'an update one turn late': ofLate.some(fault => fault.includes('was applied')),
      'a resume one event too early': ofShifted[0]!.some(fault => fault.includes('twice')),
      'a resume one event too late': ofShifted[1]!.some(fault => fault.includes('a gap before')),
    }
    const { line, progress } = this.#proof
    for (const fault of faults) line({ proof: 'live-updates', fault })
    for (const [fault, isFound] of Object.entries(planted))
      line({ proof: 'live-updates', planted: fault, found: isFound })
    if (faults.length > 0)
      progress(this.#harness.processes.map(({ roles, output }) => `${roles}:\n${output}`).join('\n'))
    return {
      ok: faults.length === 0 && Object.values(planted).every(isFound => isFound),
      summary: {
        ...this.#figures(),
        planted_found: Object.values(planted).filter(Boolean).length,
        faults: faults.length,
      },
    }
  }

  async #faultsOf({ run_id, follower, updates, late }: CheckedLiveCall): Promise<string[]> {
    const [turns, timeline] = await Promise.all([turnsOf(this.#client, run_id), timelineOf(this.#client, run_id)])
    const [run] = await this.#harness.rows<{ values: Record<string, string>; end: string }>(
      "select dynamic_variables as values, concat_ws(' ', state, outcome ->> 'detail') as end from parley.runs where run_id = $1",
      [run_id],
    )
    const faults = [
      ...turnFaults(turns, updates, INITIAL),
      ...streamFaults(follower.items, timeline, follower.hasEnded),
    ]
    if (run?.values.word !== updates.at(-1)?.value)
      faults.push(`the variable of the run is "${run?.values.word}" in the end`)
    for (const update of late) {
      await update.read(this.#client)
      faults.push(...deadlineFaults(update.readings, update.receipt!, SLACK_MS))
      if (turns.some(({ text }) => text.includes(update.value)))
        faults.push(`a turn says "${update.value}" although the update expired`)
      const statuses = statusesOf(timeline, update.receipt!.update_id)
      if (statuses.join() !== 'indeterminate')
        faults.push(`the update "${update.value}" is "${statuses.join()}" in the timeline`)
    }
    return faults.map(fault => `${run_id} (${run?.end}, ${turns.length} turns): ${fault}`)
  }

  #figures() {
    const updates = this.#calls.flatMap(call => call.updates)
    const appliedAfterMs = updates.flatMap(({ sentAt, appliedAt }) => (appliedAt === null ? [] : [appliedAt - sentAt]))
    const late = this.#calls.flatMap(call => call.late)
    const overdue = late.flatMap(({ receipt }) =>
      receipt?.completed_at == null ? [] : [Date.parse(receipt.completed_at) - Date.parse(receipt.deadline)],
    )
    const [{ cuts, cutsWithinEvents, resumed }] = this.#proxies as [StreamProxy]
    return {
      calls: this.#calls.length,
      updates: updates.length,
      applied_ms: spread(appliedAfterMs),
      late_updates: late.length,
      overdue_ms: spread(overdue),
      cuts,
      cuts_within_events: cutsWithinEvents,
      resumed,
      events: this.#calls.reduce((sum, { follower }) => sum + follower.items.length, 0),
    }
  }

  /** A phrase that was not used before. */
  #word(): string {
    const word = this.#words++
    return [100, 10, 1].map(place => WORDS[Math.floor(word / place) % WORDS.length]).join(' ')
  }
}

/** Statuses of an update in the timeline. */
function statusesOf(timeline: readonly Item[], update_id: string): readonly (string | undefined)[] {
  return timeline.filter(item => item.kind === 'update' && item.update_id === update_id).map(({ status }) => status)
}

function spread(values: readonly number[]): { p50: number; max: number } | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted.length === 0 ? null : { p50: sorted[Math.floor(sorted.length / 2)]!, max: sorted.at(-1)! }
}

export const proof: Proof = {
  name: 'live-updates',
  seconds: 600,
  count: 20,
  run: options => proveLiveUpdates(options),
}
