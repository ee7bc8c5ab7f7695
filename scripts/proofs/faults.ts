import { SeededRandom } from '@parley/kernel'
import { parts } from './calls/agents.ts'
import { CallStand, LINES } from './calls/call-stand.ts'
import { KILL_NUMBERS, killCases, MOMENTS, type Moment, TARGET } from './calls/kill-case.ts'
import { agentOf, killEngine, type PlantedKillFault } from './calls/kill-trial.ts'
import { judgeKill } from './calls/kill-verdict.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** What a run of the proof may differ in. */
export interface FaultsOptions {
  readonly moments: readonly Moment[]
  /** Of the processes, ms. */
  readonly leaseMs: number
  /** Within which a run has to be over, ms. */
  readonly overWithinMs: number
  readonly planted: PlantedKillFault
}

const AS_IN_PRODUCTION: FaultsOptions = {
  moments: Object.keys(MOMENTS) as Moment[],
  leaseMs: 9000,
  overWithinMs: 30_000,
  planted: 'nothing',
}

/**
 * The process of the engine is killed in the middle of calls, in and out, over UDP and TLS, at moments of the seed's; what
 * became of the run is held against what the carrier saw: nobody is called, transferred or hung up twice, the run is over
 * within 30 s and the carrier has its BYE or CANCEL by then, no permit is left, the timeline has no gap, what was being
 * sent is uncertain, and of the recording at most a second is lost.
 */
export async function proveFaults(
  { seed, count, line, progress }: ProofOptions,
  given: Partial<FaultsOptions> = {},
): Promise<ProofOutcome> {
  const { moments, leaseMs, overWithinMs, planted } = { ...AS_IN_PRODUCTION, ...given }
  const stand = await CallStand.open({
    processes: [planted === 'nobody reaps' ? 'api' : 'api,worker', 'engine'],
    numbers: KILL_NUMBERS,
    env: { PARLEY_LEASE_MS: String(leaseMs) },
  })
  const over: number[] = []
  const lost: number[] = []
  let faulty = 0
  try {
    for (const on of LINES)
      for (const [part, draft] of Object.entries(parts(TARGET)))
        await stand.publish(agentOf(part as keyof ReturnType<typeof parts>, on), draft, on)
    for (const kill of killCases(new SeededRandom(seed), count, moments)) {
      const killed = await killEngine(stand, kill, { overWithinMs, planted })
      const verdict = await judgeKill(stand, kill, killed, { overWithinMs, planted })
      const { faults, overAfterMs, releasedAfterMs, lostMs } = verdict
      if (faults.length > 0) faulty++
      if (overAfterMs !== null && !killed.wasReleased) over.push(overAfterMs)
      if (lostMs !== null) lost.push(lostMs)
      const { index, moment, line: on, delayMs, restartsAtOnce } = kill
      line({
        ...{ proof: 'faults', index, moment, line: on, delay_ms: delayMs, restarts_at_once: restartsAtOnce },
        ...{ state: killed.run?.state ?? null, over_after_ms: overAfterMs, released_after_ms: releasedAfterMs },
        ...{ effects_in_flight: killed.sending.length, recording_lost_ms: lostMs, faults },
      })
      progress(`${index + 1} of ${count}: ${moment} (${on})${faults.length > 0 ? `: ${faults.join('; ')}` : ''}`)
    }
    if (faulty > 0) progress(stand.processes.map(({ roles, output }) => `${roles}:\n${output.slice(-3000)}`).join('\n'))
  } finally {
    await stand.close()
  }
  const most = (values: readonly number[]) => (values.length === 0 ? null : Math.max(...values))
  return {
    ok: faulty === 0,
    summary: { kills: count, faulty, over_after_ms_max: most(over), recording_lost_ms_max: most(lost) },
  }
}

export const proof: Proof = { name: 'faults', seconds: 3600, count: 20, run: options => proveFaults(options) }
