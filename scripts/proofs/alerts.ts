import { SeededRandom } from '@parley/kernel'
import { AlertPlatform } from './alerts/alert-platform.ts'
import { proveKill } from './alerts/kills-part.ts'
import { proveMetrics, proveReasons } from './alerts/metrics-part.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** Environments whose notifications one kill interrupts. */
const AT_ONCE = 10

/**
 * Alerts on seeded runs and usage, with a worker in a process of its own: every metric fires, recovers and fires again, with numbers
 * that are computed again from the API; every reason for no value comes up; the worker is killed between intent and answer of
 * `count` notifications. Planted faults: changed evaluations, and a worker that forgets an intent.
 */
export async function proveAlerts({ seed, count, line, progress }: ProofOptions): Promise<ProofOutcome> {
  const random = new SeededRandom(seed)
  const platform = await AlertPlatform.open()
  try {
    await platform.startWorker()
    const metrics = await proveMetrics(platform)
    progress(`metrics: ${metrics.faults.length} faults`)
    const reasons = await proveReasons(platform)
    progress(`reasons: ${reasons.length} faults`)
    const faults = [...metrics.faults, ...reasons]
    const statuses: Record<string, number> = {}
    let plantedNoticed = metrics.plantedNoticed
    let kills = 0
    for (let done = 0; done < count; done += AT_ONCE) {
      const report = await proveKill(platform, Math.min(AT_ONCE, count - done), random)
      kills++
      faults.push(...report.faults)
      plantedNoticed &&= report.plantedNoticed
      for (const [status, times] of Object.entries(report.statuses)) statuses[status] = (statuses[status] ?? 0) + times
      progress(`${kills} kills: ${JSON.stringify(statuses)}, ${faults.length} faults`)
    }
    for (const fault of faults) line({ proof: 'alerts', fault })
    if (faults.length > 0) progress(platform.output)
    return {
      ok: faults.length === 0 && plantedNoticed && (statuses.uncertain ?? 0) > 0,
      summary: { kills, deliveries: statuses, faults: faults.length, planted_noticed: plantedNoticed },
    }
  } finally {
    await platform.close()
  }
}

export const proof: Proof = { name: 'alerts', seconds: 900, count: 100, run: proveAlerts }
