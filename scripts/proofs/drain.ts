import { setTimeout as pause } from 'node:timers/promises'
import { manyRtpPorts } from '../../interop/ports.ts'
import { LISTENER } from './calls/agents.ts'
import { CallHarness } from './calls/call-harness.ts'
import type { Line } from './calls/carrier-lines.ts'
import { createMany } from './calls/created-runs.ts'
import { pollUntil } from './calls/poll-until.ts'
import { rawInvite } from './calls/raw-invite.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const LINE: Line = 'udp'
const AGENT = 'listener'
const ANSWER_TIMEOUT_MS = 60_000
const POLL_FOR_MS = 5000
/** Calls that an engine has RTP ports for when no other range is given. */
const PORTS_OF_ONE_ENGINE = 40
/** Time for the process to end after the last call. */
const EXIT_TIMEOUT_MS = 60_000

/** A planted fault, which the proof must report. `cut off`: the process gets SIGINT, which ends live calls at once, instead of SIGTERM. */
export type PlantedDrainFault = 'nothing' | 'cut off'

/**
 * Sends SIGTERM to a process with API and engine during calls. Within `readyMs`, by default a second, `/readyz` fails; a new inbound call gets 503 with
 * Retry-After and leaves a rejected run; no further call is dialled; every live call continues until its far end hangs up; the
 * process then exits with 0.
 */
export async function proveDrain(
  { count, line, progress }: ProofOptions,
  {
    callMs = 40_000,
    readyMs = 1000,
    planted = 'nothing',
  }: { readonly callMs?: number; readonly readyMs?: number; readonly planted?: PlantedDrainFault } = {},
): Promise<ProofOutcome> {
  const harness = await CallHarness.open({
    // The first process runs the database, which must outlive the drained process.
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
    await pollUntil(ANSWER_TIMEOUT_MS, async () => (answered(harness) === count ? true : null))
    const live = answered(harness)
    progress(`${live} of ${count} calls are up`)
    const signalledAtMs = Date.now()
    harness.engine.signal(planted === 'cut off' ? 'SIGINT' : 'SIGTERM')
    const ready = await pollUntilNotReady(`${harness.url}/readyz`)
    const invite = await rawInvite(harness.inboundUri(LINE))
    const late = await createMany(harness, AGENT, 1, 1).catch(() => [])
    const exit = await Promise.race([harness.engine.exited(), pause(callMs + EXIT_TIMEOUT_MS, 'alive' as const)])
    progress(`the process ended with ${exit}`)
    const calls = carrier.query().calls()
    const dialledLate = calls.filter(({ opening }) => opening.wall_ms > signalledAtMs)
    const cutOff = calls.filter(({ rows }) => rows.some(({ kind }) => kind === 'bye-received'))
    const isWaiting = await leftWaiting(harness, late[0]?.run_id ?? null)
    const states = await harness.rows<{ state: string; kind: string | null }>(
      "select state, outcome ->> 'kind' as kind from parley.runs where ended_at is not null and started_at is not null",
    )
    const refused = await harness.rows("select from parley.runs where state = 'rejected' and disposition = 'draining'")
    const good = states.filter(({ state, kind }) => state === 'completed' && kind === 'caller_hung_up').length
    const faults = [
      ...(live === count ? [] : [`${live} of ${count} calls came up`]),
      ...(ready.readyUntilMs < readyMs ? [] : [`still ready after ${ready.readyUntilMs} ms`]),
      ...(invite.status === 503 && invite.hasRetryAfter ? [] : [`an INVITE was answered ${JSON.stringify(invite)}`]),
      ...(refused.length === 1 ? [] : [`${refused.length} rejected runs for one refused INVITE`]),
      ...(dialledLate.length === 0 ? [] : [`${dialledLate.length} calls were dialled after SIGTERM`]),
      ...(cutOff.length === 0 ? [] : [`${cutOff.length} calls were cut off`]),
      ...(isWaiting ? [] : ['a run that was created during the drain was not left waiting']),
      ...(good === count ? [] : [`${good} of ${count} runs completed because the caller hung up`]),
      ...(exit === 0 ? [] : [`the process ended with ${exit}`]),
    ]
    for (const fault of faults) line({ proof: 'drain', fault })
    return {
      ok: faults.length === 0,
      summary: {
        calls: live,
        ready_until_ms: ready.readyUntilMs,
        not_ready_told_ms: ready.notReadyAfterMs,
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
  /** Time of the last request that was answered "ready", ms since the start; 0: none was. */
  readonly readyUntilMs: number
  /** Time of the first other answer, ms since the start. */
  readonly notReadyAfterMs: number
}

/** Polls `url` until it is not ready, for 5 s at most. A process that does not answer is not ready. */
async function pollUntilNotReady(url: string): Promise<NotReady> {
  const since = performance.now()
  const elapsed = () => Math.round(performance.now() - since)
  let readyUntilMs = 0
  while (elapsed() < POLL_FOR_MS) {
    const sentMs = elapsed()
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (!isReady) break
    readyUntilMs = sentMs
    await pause(10)
  }
  return { readyUntilMs, notReadyAfterMs: elapsed() }
}

/** Whether the run was not dialled. True also if the API refused to create it. */
async function leftWaiting(harness: CallHarness, run_id: string | null): Promise<boolean> {
  if (run_id === null) return true
  const text = 'select state, invite_sent_at from parley.runs where run_id = $1'
  const [run] = await harness.rows<{ state: string; invite_sent_at: Date | null }>(text, [run_id])
  return (run?.state === 'admitted' || run?.state === 'expired') && run.invite_sent_at === null
}

export const proof: Proof = { name: 'drain', seconds: 600, count: 50, run: options => proveDrain(options) }
