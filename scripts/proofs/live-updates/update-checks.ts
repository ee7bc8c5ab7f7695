import { isDeepStrictEqual } from 'node:util'

/** An agent's turn: its text, and when the model was requested (wall clock, ms). */
export interface Turn {
  readonly requestedAt: number
  readonly text: string
}

/** An update of the word that the agent speaks, as the API client saw it (wall clock, ms). */
export interface Sent {
  readonly value: string
  readonly sentAt: number
  /** Time of the first receipt with `applied`; null: there was none. */
  readonly appliedAt: number | null
}

/**
 * Faults of the turns of a call. Each turn must speak the newest update that was applied before its model request, or one that
 * was in flight then; and each applied update must be spoken by a turn.
 */
export function turnFaults(turns: readonly Turn[], updates: readonly Sent[], initial: string): string[] {
  const faults: string[] = []
  const all: readonly Sent[] = [{ value: initial, sentAt: 0, appliedAt: 0 }, ...updates]
  for (const [index, { requestedAt, text }] of turns.entries()) {
    const newest = all.findLastIndex(({ appliedAt }) => appliedAt !== null && appliedAt < requestedAt)
    const may = all.filter(
      ({ sentAt, appliedAt }, at) => at === newest || (at > newest && sentAt < requestedAt && appliedAt !== null),
    )
    if (may.some(({ value }) => text.includes(value))) continue
    const since = requestedAt - all[newest]!.appliedAt!
    faults.push(`turn ${index} says "${text}" ${since} ms after "${all[newest]!.value}" was applied`)
  }
  for (const { value, appliedAt } of updates) {
    if (appliedAt === null) faults.push(`"${value}" was not applied`)
    else if (!turns.some(({ text }) => text.includes(value))) faults.push(`no turn says "${value}"`)
  }
  return faults
}

/** The state in a receipt, with the times of its request and response (wall clock, ms). */
export interface ReceiptReading {
  readonly requestedAt: number
  readonly answeredAt: number
  readonly status: string
}

export interface LateReceipt {
  readonly status: string
  readonly reason: string | null
  readonly deadline: string
  readonly completed_at: string | null
}

/**
 * Faults of an update that no process could apply: it waits until its deadline, is `indeterminate` from then on within
 * `slackMs`, and stays so.
 */
export function deadlineFaults(readings: readonly ReceiptReading[], last: LateReceipt, slackMs: number): string[] {
  const deadline = Date.parse(last.deadline)
  const faults: string[] = []
  const early = readings.find(({ answeredAt, status }) => answeredAt < deadline && status !== 'acknowledged')
  if (early !== undefined) faults.push(`${early.status} ${deadline - early.answeredAt} ms before its deadline`)
  const late = readings.find(
    ({ requestedAt, status }) => requestedAt > deadline + slackMs && status !== 'indeterminate',
  )
  if (late !== undefined) faults.push(`${late.status} ${late.requestedAt - deadline} ms after its deadline`)
  const settledAfter = last.completed_at === null ? null : Date.parse(last.completed_at) - deadline
  const isInTime = settledAfter !== null && settledAfter >= 0 && settledAfter <= slackMs
  if (last.status !== 'indeterminate' || last.reason !== 'deadline' || !isInTime)
    faults.push(`in the end ${last.status} (${last.reason}), ${settledAfter} ms after its deadline`)
  return faults
}

export interface Item {
  readonly seq: number
  readonly kind: string
  /** Of an `update`. */
  readonly update_id?: string
  readonly status?: string
}

/** Faults of a received stream. It must have each item of the timeline once, in order and unchanged, up to the end. */
export function streamFaults(received: readonly Item[], timeline: readonly Item[], hasEnded: boolean): string[] {
  const faults: string[] = []
  let expected = 1
  for (const { seq } of received) {
    if (seq < expected) faults.push(`event ${seq} arrived twice`)
    else if (seq > expected) faults.push(`a gap before event ${seq}: ${expected} is missing`)
    expected = Math.max(expected, seq + 1)
  }
  if (expected !== timeline.length + 1) faults.push(`the stream ends after event ${expected - 1} of ${timeline.length}`)
  const items = new Map(timeline.map(item => [item.seq, item]))
  for (const item of received)
    if (!isDeepStrictEqual(item, items.get(item.seq))) faults.push(`event ${item.seq} differs from the timeline`)
  if (!hasEnded) faults.push('the stream was not ended')
  return faults
}
