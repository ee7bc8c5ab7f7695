import type { LedgerCall } from '@parley/loadtest'
import type { CallHarness } from './call-harness.ts'
import { type KillCase, MOMENTS } from './kill-case.ts'
import { effectsIn, hasPermit, isOf, type Killed, type KillOptions, UNACKNOWLEDGED_MS } from './kill-trial.ts'
import { pollUntil } from './poll-until.ts'
import { wavMs } from './wav-length.ts'

/** Largest part of a recording that a kill may lose, ms. */
const MAX_LOST_MS = 1000
/** Tolerance between the clocks of two processes. */
const SLACK_MS = 100
/** Largest delay of the carrier's timer. */
const LATE_MS = 2000
const RECORDING_TIMEOUT_MS = 40_000
const TERMINAL = ['completed', 'failed', 'cancelled', 'rejected', 'expired']

export interface KillCheck {
  readonly faults: readonly string[]
  /** From the kill to the end of the run, ms. */
  readonly overAfterMs: number | null
  /** From the kill to the carrier's BYE or CANCEL, ms; null: it had none, or had it before. */
  readonly releasedAfterMs: number | null
  /** Part of the call before the kill that the recording lacks, ms; null: no recording was due. */
  readonly lostMs: number | null
}

/** Permits and run ownership rows that are left after all trials, as text. Null: none. */
export async function permitsLeft(harness: CallHarness): Promise<string | null> {
  const [permits] = await harness.rows<{ live: number; owned: number }>(
    'select coalesce(sum(live), 0)::int as live, (select count(*) from parley.run_ownership)::int as owned from parley.run_counters',
  )
  const { live, owned } = permits!
  return live === 0 && owned === 0 ? null : `permits not returned: ${live}; owned runs: ${owned}`
}

/** Compares the run with the carrier's ledger. */
export async function checkKill(
  harness: CallHarness,
  kill: KillCase,
  killed: Killed,
  options: KillOptions,
): Promise<KillCheck> {
  const { run, killedAt } = killed
  if (run === null)
    return { faults: ['the moment of the kill did not occur'], overAfterMs: null, releasedAfterMs: null, lostMs: null }
  const calls = harness
    .carrier(kill.line)
    .query()
    .calls(({ opening }) => isOf(kill, opening))
  const overAfterMs = run.ended_at === null ? null : run.ended_at.getTime() - killedAt
  const releasedAt = calls[0] === undefined ? null : releasedWall(calls[0])
  const { lostMs, fault } = await recordingOf(harness, killed)
  return {
    faults: [
      ...endFaults(killed, options, overAfterMs),
      ...callFaults(kill, killed, calls),
      ...(await rowFaults(harness, killed)),
      ...(fault === null ? [] : [fault]),
    ],
    overAfterMs,
    releasedAfterMs: releasedAt === null || releasedAt < killedAt ? null : Math.round(releasedAt - killedAt),
    lostMs,
  }
}

function endFaults({ run, wasReleased }: Killed, options: KillOptions, overAfterMs: number | null): string[] {
  if (!TERMINAL.includes(run!.state) || overAfterMs === null) return [`the run is ${run!.state}, ${run!.phone_state}`]
  // No call had been placed: the next engine gets the run, which has no deadline here.
  return !wasReleased && overAfterMs > options.overWithinMs ? [`the run ended only after ${overAfterMs} ms`] : []
}

function callFaults(kill: KillCase, { run, wasReleased }: Killed, calls: readonly LedgerCall[]): string[] {
  const faults: string[] = []
  // A run that its owner had started but not dialled fails; otherwise another engine dials it.
  const expectsNoCall = wasReleased && run!.state === 'failed'
  if (calls.length !== (expectsNoCall ? 0 : 1))
    faults.push(`${calls.length} calls instead of ${expectsNoCall ? 'none' : 'one'}`)
  for (const call of calls) {
    const refers = call.rows.filter(({ kind }) => kind === 'refer-received').length
    const mayRefer = MOMENTS[kill.moment].part === 'switchboard' && !wasReleased
    if (refers > (mayRefer ? 1 : 0)) faults.push(`${refers} transfers`)
    const hangUps = call.rows.filter(({ kind }) => kind === 'bye-received' || kind === 'cancel').length
    if (hangUps > 1) faults.push(`${hangUps} hang-ups`)
    const releasedAt = releasedWall(call)
    const endedAt = run!.ended_at?.getTime() ?? Number.POSITIVE_INFINITY
    // A silent carrier records none of the messages that it ignores.
    if (kill.moment === 'dialling a carrier that is silent') continue
    if (releasedAt === null) faults.push('the carrier has no BYE or CANCEL')
    else if (isUnacknowledged(call)) {
      // Without an ACK no engine has stored the dialog, and the far end ends the call by itself.
      const { wall_ms } = call.rows.find(({ kind }) => kind === 'answered')!
      if (releasedAt > wall_ms + UNACKNOWLEDGED_MS + LATE_MS)
        faults.push(`the carrier gave up ${Math.round(releasedAt - wall_ms)} ms after its answer`)
    } else if (releasedAt > endedAt + SLACK_MS)
      faults.push(`the carrier had its BYE or CANCEL ${Math.round(releasedAt - endedAt)} ms after the run had ended`)
  }
  return faults
}

/** A CANCEL may end the call before its answer; after the answer it has no effect. */
function releasedWall({ rows }: LedgerCall): number | null {
  const isAnswered = rows.some(({ kind }) => kind === 'answered')
  const kinds = isAnswered ? ['bye-received', 'bye-sent'] : ['cancel', 'refused']
  return rows.find(({ kind }) => kinds.includes(kind))?.wall_ms ?? null
}

function isUnacknowledged({ rows }: LedgerCall): boolean {
  return rows.some(({ kind }) => kind === 'answered') && !rows.some(({ kind }) => kind === 'acknowledged')
}

async function rowFaults(harness: CallHarness, { run, sending }: Killed): Promise<string[]> {
  const faults: string[] = []
  const of = [run!.run_id]
  if (await hasPermit(harness, run!.run_id)) faults.push('its permit was not returned')
  const text = 'select seq from parley.run_events where run_id = $1 order by seq'
  const seqs = (await harness.rows<{ seq: number }>(text, of)).map(({ seq }) => seq)
  if (seqs.length === 0 || seqs.some((seq, index) => seq !== index + 1))
    faults.push(`the timeline has the sequence numbers ${seqs.join(' ')}`)
  const left = await effectsIn(harness, run!.run_id, 'sending')
  if (left.length > 0) faults.push(`${left.length} effects are still in the state sending`)
  const effects = await harness.rows<{ effect_id: string; state: string; idempotent: boolean; effect_kind: string }>(
    'select effect_id, state, idempotent, effect_kind from parley.run_effects where run_id = $1',
    of,
  )
  for (const { effect_id, state, idempotent, effect_kind } of effects)
    if (sending.includes(effect_id) && !idempotent && state !== 'uncertain')
      faults.push(`the effect ${effect_kind} was being sent at the kill and is now ${state}, not uncertain`)
  return faults
}

async function recordingOf(
  harness: CallHarness,
  { run, killedAt, answeredAt, wasReleased }: Killed,
): Promise<{ readonly lostMs: number | null; readonly fault: string | null }> {
  const talkedMs = answeredAt === null || wasReleased ? 0 : killedAt - answeredAt
  if (talkedMs <= MAX_LOST_MS) return { lostMs: null, fault: null }
  const params = { run_id: run!.run_id }
  let last = 'none'
  let recordedMs = 0
  await pollUntil(RECORDING_TIMEOUT_MS, async () => {
    const { state, media_url } = await harness.client.runs.recording({ params })
    last = state
    if (media_url === null) return null
    const response = await fetch(media_url)
    recordedMs = wavMs(new Uint8Array(await response.arrayBuffer()))
    return talkedMs - recordedMs <= MAX_LOST_MS ? true : null
  })
  const lostMs = Math.round(talkedMs - recordedMs)
  const fault =
    lostMs > MAX_LOST_MS ? `${lostMs} of ${talkedMs} ms are missing in the recording, whose state is ${last}` : null
  return { lostMs, fault }
}
