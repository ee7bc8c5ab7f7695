import { SeededRandom } from '@parley/kernel'
import { proofAgents } from './calls/agents.ts'
import { CallHarness } from './calls/call-harness.ts'
import { LINES } from './calls/carrier-lines.ts'
import { EngineFleet } from './calls/engine-fleet.ts'
import { KILL_NUMBERS, type KillCase, killCases, onceMore, TARGET } from './calls/kill-case.ts'
import { checkKill, type KillCheck, permitsLeft } from './calls/kill-check.ts'
import { abandon, agentOf, cleanUp, type Killed, killEngine, runOver } from './calls/kill-trial.ts'
import { pollUntil } from './calls/poll-until.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** Parameters of the proof. */
interface FaultsOptions {
  /** Duration of leases on runs, ms. */
  readonly leaseMs: number
  /** Time limit for the end of a run after the kill, ms. */
  readonly overWithinMs: number
}

const PRODUCTION_OPTIONS: FaultsOptions = { leaseMs: 9000, overWithinMs: 30_000 }

/** One takes the next call while two are restarting. */
const ENGINES = 3
const MAX_REPETITIONS = 3
const PERMITS_TIMEOUT_MS = 40_000

type Trial = KillCheck & { readonly kill: KillCase; readonly killed: Killed }

/**
 * Kills engines during calls, inbound and outbound, over UDP and TLS, at moments that the seed chooses. While a run waits for
 * its reaper, the next call is made on another engine. Each run is compared with what the carrier saw: no call, transfer or
 * hang-up happens twice; within 30 s the run has ended and the carrier has its BYE or CANCEL; the permit is returned; the
 * timeline has no gap; effects in flight are uncertain; at most a second of the recording is lost. Besides the `count` kills
 * there is one for each planted fault; the proof fails if it does not report one of them.
 */
export async function proveFaults(
  { seed, count, line, progress }: ProofOptions,
  overrides: Partial<FaultsOptions> = {},
): Promise<ProofOutcome> {
  const { leaseMs, overWithinMs } = { ...PRODUCTION_OPTIONS, ...overrides }
  const harness = await CallHarness.open({
    processes: ['api,worker', ...Array.from({ length: ENGINES }, () => 'engine')],
    numbers: KILL_NUMBERS,
    env: { PARLEY_LEASE_MS: String(leaseMs) },
  })
  const cases = killCases(new SeededRandom(seed), count)
  const fleet = new EngineFleet(harness, cases.length)
  try {
    for (const carrierLine of LINES)
      for (const [part, draft] of Object.entries(proofAgents(TARGET)))
        await harness.publish(agentOf(part as keyof ReturnType<typeof proofAgents>, carrierLine), draft, carrierLine)
    const trials: Promise<Trial>[] = []
    for (const requested of cases) {
      const { kill, killed } = await killWithRetries(harness, fleet, requested)
      const trial = settle(harness, kill, killed, overWithinMs).then(settled => {
        report(settled, { line, progress })
        return settled
      })
      // A rejection is reported by Promise.all below.
      trial.catch(() => {})
      trials.push(trial)
    }
    const settled = await Promise.all(trials)
    const nothingLeft = () => permitsLeft(harness).then(left => (left === null ? true : null))
    const isClean = (await pollUntil(PERMITS_TIMEOUT_MS, nothingLeft)) === true
    const outcome = outcomeOf(settled, isClean ? null : await permitsLeft(harness))
    if (!outcome.ok)
      progress(harness.processes.map(({ roles, output }) => `${roles}:\n${output.slice(-3000)}`).join('\n'))
    return outcome
  } finally {
    await fleet.close()
    await harness.close()
  }
}

/**
 * Repeats a case that did not occur as it was meant: on a busy machine an engine may lose a run before it dials,
 * answer too late, or send the ACK before the dialog is stored (decision 0028).
 */
async function killWithRetries(
  harness: CallHarness,
  fleet: EngineFleet,
  requested: KillCase,
): Promise<{ readonly kill: KillCase; readonly killed: Killed }> {
  let kill = requested
  for (let attempt = 1; ; attempt++) {
    const killed = await killEngine(harness, fleet, kill)
    if (killed.isAsMeant || attempt > MAX_REPETITIONS) return { kill, killed }
    if (killed.run === null) await abandon(harness, kill)
    kill = onceMore(requested, attempt)
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
  const { index, moment, line: carrierLine, delayMs, planted } = kill
  line({
    proof: 'faults',
    index,
    moment,
    line: carrierLine,
    delay_ms: delayMs,
    planted,
    state: killed.run?.state ?? null,
    over_after_ms: overAfterMs,
    released_after_ms: releasedAfterMs,
    effects_in_flight: killed.sending.length,
    recording_lost_ms: lostMs,
    faults,
  })
  progress(`${index}: ${planted ?? moment} (${carrierLine})${faults.length > 0 ? `: ${faults.join('; ')}` : ''}`)
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
      over_after_ms_max: maximum(over),
      recording_lost_ms_max: maximum(kills.map(({ lostMs }) => lostMs)),
    },
  }
}

function maximum(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}

export const proof: Proof = { name: 'faults', seconds: 3600, count: 20, run: options => proveFaults(options) }
