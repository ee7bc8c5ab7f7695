import { SeededRandom } from '@parley/kernel'
import { proofAgents } from './calls/agents.ts'
import { CallHarness, LINES, within } from './calls/call-harness.ts'
import { EngineFleet } from './calls/engine-fleet.ts'
import { KILL_NUMBERS, type KillCase, killCases, onceMore, TARGET } from './calls/kill-case.ts'
import { checkKill, type KillCheck, permitsLeft } from './calls/kill-check.ts'
import { agentOf, cleanUp, type Killed, killEngine, runOver } from './calls/kill-trial.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** What a run of the proof may differ in. */
interface FaultsOptions {
  /** Of the processes, ms. */
  readonly leaseMs: number
  /** Within which a run has to be over, ms. */
  readonly overWithinMs: number
}

const AS_IN_PRODUCTION: FaultsOptions = { leaseMs: 9000, overWithinMs: 30_000 }

/** One is used while two come up again. */
const ENGINES = 3
const MOST_PLANTINGS = 3
const PERMITS_BACK_WITHIN_MS = 40_000

type Trial = KillCheck & { readonly kill: KillCase; readonly killed: Killed }

/**
 * Engines are killed in the middle of calls, in and out, over UDP and TLS, at moments of the seed's; while the run of one
 * waits for its reaper, the next call is made on another. What became of each run is held against what the carrier saw:
 * nobody is called, transferred or hung up twice, the run is over within 30 s and the carrier has its BYE or CANCEL by
 * then, its permit is back, the timeline has no gap, what was being sent is uncertain, and of the recording at most a
 * second is lost. Beside the `count` kills there is one for each planted fault, and the proof fails where it sees none.
 */
export async function proveFaults(
  { seed, count, line, progress }: ProofOptions,
  given: Partial<FaultsOptions> = {},
): Promise<ProofOutcome> {
  const { leaseMs, overWithinMs } = { ...AS_IN_PRODUCTION, ...given }
  const harness = await CallHarness.open({
    processes: ['api,worker', ...Array.from({ length: ENGINES }, () => 'engine')],
    numbers: KILL_NUMBERS,
    env: { PARLEY_LEASE_MS: String(leaseMs) },
  })
  const fleet = new EngineFleet(harness)
  try {
    for (const on of LINES)
      for (const [part, draft] of Object.entries(proofAgents(TARGET)))
        await harness.publish(agentOf(part as keyof ReturnType<typeof proofAgents>, on), draft, on)
    const trials: Promise<Trial>[] = []
    for (const requested of killCases(new SeededRandom(seed), count)) {
      const { kill, killed } = await killedAsPlanted(harness, fleet, requested)
      const trial = settle(harness, kill, killed, overWithinMs).then(settled => {
        report(settled, { line, progress })
        return settled
      })
      // Told of where all are waited for.
      trial.catch(() => {})
      trials.push(trial)
    }
    const settled = await Promise.all(trials)
    const nothingLeft = () => permitsLeft(harness).then(left => (left === null ? true : null))
    const isClean = (await within(PERMITS_BACK_WITHIN_MS, nothingLeft)) === true
    const outcome = outcomeOf(settled, isClean ? null : await permitsLeft(harness))
    if (!outcome.ok)
      progress(harness.processes.map(({ roles, output }) => `${roles}:\n${output.slice(-3000)}`).join('\n'))
    return outcome
  } finally {
    await fleet.close()
    await harness.close()
  }
}

/** A fault that did not come about is planted again: on a busy machine an engine may lose a run before it calls. */
async function killedAsPlanted(
  harness: CallHarness,
  fleet: EngineFleet,
  requested: KillCase,
): Promise<{ readonly kill: KillCase; readonly killed: Killed }> {
  let kill = requested
  for (let again = 1; ; again++) {
    const killed = await killEngine(harness, fleet, kill)
    if (killed.isAsPlanted || requested.planted === null || again > MOST_PLANTINGS) return { kill, killed }
    kill = onceMore(requested, again)
  }
}

async function settle(harness: CallHarness, kill: KillCase, before: Killed, overWithinMs: number): Promise<Trial> {
  const killed = await runOver(harness, kill, before, { overWithinMs })
  const check = await checkKill(harness, kill, killed, { overWithinMs })
  await cleanUp(harness, kill, killed)
  return { ...check, kill, killed }
}

function report(trial: Trial, { line, progress }: Pick<ProofOptions, 'line' | 'progress'>): void {
  const { kill, killed, faults, overAfterMs, releasedAfterMs, lostMs } = trial
  const { index, moment, line: on, delayMs, planted } = kill
  line({
    proof: 'faults',
    index,
    moment,
    line: on,
    delay_ms: delayMs,
    planted,
    state: killed.run?.state ?? null,
    over_after_ms: overAfterMs,
    released_after_ms: releasedAfterMs,
    effects_in_flight: killed.sending.length,
    recording_lost_ms: lostMs,
    faults,
  })
  progress(`${index}: ${planted ?? moment} (${on})${faults.length > 0 ? `: ${faults.join('; ')}` : ''}`)
}

function outcomeOf(trials: readonly Trial[], left: string | null): ProofOutcome {
  const kills = trials.filter(({ kill }) => kill.planted === null)
  const missed = trials.filter(({ kill, faults }) => kill.planted !== null && faults.length === 0).length
  const faulty = kills.filter(({ faults }) => faults.length > 0).length
  const over = kills.filter(({ killed }) => !killed.wasReleased).map(({ overAfterMs }) => overAfterMs)
  return {
    ok: faulty === 0 && missed === 0 && left === null,
    summary: {
      kills: kills.length,
      faulty,
      planted_missed: missed,
      permits_left: left,
      over_after_ms_max: most(over),
      recording_lost_ms_max: most(kills.map(({ lostMs }) => lostMs)),
    },
  }
}

function most(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}

export const proof: Proof = { name: 'faults', seconds: 3600, count: 20, run: options => proveFaults(options) }
