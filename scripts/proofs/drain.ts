import { setTimeout as pause } from 'node:timers/promises'
import { manyRtpPorts } from '../../interop/ports.ts'
import { LISTENER } from './calls/agents.ts'
import { CallHarness, type Line, within } from './calls/call-harness.ts'
import { createMany } from './calls/created-runs.ts'
import { rawInvite } from './calls/raw-invite.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const LINE: Line = 'udp'
const AGENT = 'listener'
const UP_WITHIN_MS = 60_000
const NOT_READY_WITHIN_MS = 1000
const LOOK_FOR_MS = 5000
/** Calls that an engine has RTP ports for when no other range is given. */
const PORTS_OF_ONE_ENGINE = 40
/** Beyond the life of a call. */
const GONE_WITHIN_MS = 60_000

/** What the proof must notice. `cut off`: the process gets SIGINT, which ends it at once, instead of SIGTERM. */
export type PlantedDrainFault = 'nothing' | 'cut off'

/**
 * A process with API and engine gets SIGTERM in the middle of calls: it is not ready within a second, a new call is refused
 * with 503 and Retry-After and leaves a rejected run, nothing is dialled any more, every call ends as the far end wants, and
 * the process ends with 0.
 */
export async function proveDrain(
  { count, line, progress }: ProofOptions,
  { callMs = 40_000, planted = 'nothing' }: { readonly callMs?: number; readonly planted?: PlantedDrainFault } = {},
): Promise<ProofOutcome> {
  const harness = await CallHarness.open({
    // The database is the worker's: it outlives the other.
    processes: ['worker', 'api,engine'],
    numbers: [{ number: '*', behaviour: { do: 'answer', afterMs: 50, hangUpAfterMs: callMs } }],
    lines: [LINE],
    ...(count > PORTS_OF_ONE_ENGINE && { rtpPorts: manyRtpPorts() }),
  })
  try {
    await harness.publish(AGENT, LISTENER, LINE)
    await harness.assign(LINE, AGENT)
    await harness.set({ set: 'capacity', value: count + 10 })
    await harness.setCallsPerSecond(LINE, 100)
    await createMany(harness, AGENT, 8, count)
    const carrier = harness.carrier(LINE)
    await within(UP_WITHIN_MS, async () => (answered(harness) === count ? true : null))
    const live = answered(harness)
    progress(`${live} of ${count} calls are up`)
    const signalledAt = Date.now()
    harness.engine.signal(planted === 'cut off' ? 'SIGINT' : 'SIGTERM')
    const ready = await notReadyAfter(`${harness.url}/readyz`)
    const invite = await rawInvite(harness.inboundUri(LINE))
    const late = await createMany(harness, AGENT, 1, 1).catch(() => [])
    const exit = await Promise.race([harness.engine.exited(), pause(callMs + GONE_WITHIN_MS, 'alive' as const)])
    progress(`the process ended with ${exit}`)
    const calls = carrier.query().calls()
    const dialledLate = calls.filter(({ opening }) => opening.wall_ms > signalledAt)
    const cutOff = calls.filter(({ rows }) => rows.some(({ kind }) => kind === 'bye-received'))
    const isWaiting = await leftWaiting(harness, late[0]?.run_id ?? null)
    const states = await harness.rows<{ state: string; kind: string | null }>(
      "select state, outcome ->> 'kind' as kind from parley.runs where ended_at is not null and started_at is not null",
    )
    const refused = await harness.rows("select from parley.runs where state = 'rejected' and disposition = 'draining'")
    const good = states.filter(({ state, kind }) => state === 'completed' && kind === 'caller_hung_up').length
    const faults = [
      ...(live === count ? [] : [`${live} of ${count} calls came up`]),
      ...(ready.readyUntilMs < NOT_READY_WITHIN_MS ? [] : [`still ready after ${ready.readyUntilMs} ms`]),
      ...(invite.status === 503 && invite.hasRetryAfter ? [] : [`an INVITE was answered ${JSON.stringify(invite)}`]),
      ...(refused.length === 1 ? [] : [`${refused.length} runs tell of that INVITE`]),
      ...(dialledLate.length === 0 ? [] : [`${dialledLate.length} dialled afterwards`]),
      ...(cutOff.length === 0 ? [] : [`${cutOff.length} calls were cut off`]),
      ...(isWaiting ? [] : ['a run that was created meanwhile does not wait']),
      ...(good === count ? [] : [`${good} of ${count} runs ended as calls do`]),
      ...(exit === 0 ? [] : [`the process ended with ${exit}`]),
    ]
    for (const fault of faults) line({ proof: 'drain', fault })
    return {
      ok: faults.length === 0,
      summary: {
        calls: live,
        ready_until_ms: ready.readyUntilMs,
        not_ready_told_ms: ready.toldAfterMs,
        invite,
        late_run: late[0]?.status ?? null,
        exit,
        faults: faults.length,
      },
    }
  } finally {
    await harness.close()
  }
}

function answered(harness: CallHarness): number {
  return harness
    .carrier(LINE)
    .query()
    .calls()
    .filter(({ answeredAt }) => answeredAt !== null).length
}

interface NotReady {
  /** From now to when the last request was sent that was answered as ready, ms; 0: none was. */
  readonly readyUntilMs: number
  /** From now to the first answer that says otherwise, ms. */
  readonly toldAfterMs: number
}

/** Asks for a few seconds at most. A process that is gone is not ready either. */
async function notReadyAfter(url: string): Promise<NotReady> {
  const since = performance.now()
  const elapsed = () => Math.round(performance.now() - since)
  let readyUntilMs = 0
  while (elapsed() < LOOK_FOR_MS) {
    const sentMs = elapsed()
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (!isReady) break
    readyUntilMs = sentMs
    await pause(10)
  }
  return { readyUntilMs, toldAfterMs: elapsed() }
}

/** True also where the API took no more runs. */
async function leftWaiting(harness: CallHarness, run_id: string | null): Promise<boolean> {
  if (run_id === null) return true
  const text = 'select state, invite_sent_at from parley.runs where run_id = $1'
  const [run] = await harness.rows<{ state: string; invite_sent_at: Date | null }>(text, [run_id])
  return (run?.state === 'admitted' || run?.state === 'expired') && run.invite_sent_at === null
}

export const proof: Proof = { name: 'drain', seconds: 600, count: 50, run: options => proveDrain(options) }
