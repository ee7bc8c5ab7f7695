import type { Ms } from '@parley/kernel'

/** One call of the fleet, as it is written to the CSV. */
export interface CallRow {
  readonly call_id: string
  readonly process: number
  readonly direction: 'out' | 'in'
  readonly caller: string
  /** How many calls of the same caller in a row were not answered before this one. */
  readonly retry: number
  /** Step of the load to which the call counts (`LoadStage.callsOf`). */
  readonly step: number | null
  /** Since the beginning of the run. */
  readonly started_ms: Ms
  /** From the INVITE to the answer; null: not answered, or an inbound call. */
  readonly setup_ms: Ms | null
  readonly duration_ms: Ms
  /** Final status of the INVITE. */
  readonly status: number | null
  readonly cause: string
  readonly ended_by: string
  /** Of each turn that was answered. */
  readonly reply_ms: readonly Ms[]
  readonly gaps: number
  readonly longest_gap_ms: Ms
  readonly packets_received: number
  readonly packets_lost: number
  readonly jitter_max_ms: Ms
  readonly concealed_ms: Ms
  /** Kinds of failure with their details: "late_reply: step 2 after 1480 ms". Empty: the call was good. */
  readonly failures: readonly Failure[]
}

export interface Failure {
  readonly kind: string
  readonly detail: string
}

const COLUMNS = [
  'call_id',
  'process',
  'direction',
  'caller',
  'retry',
  'step',
  'started_ms',
  'setup_ms',
  'duration_ms',
  'status',
  'cause',
  'ended_by',
  'turns_answered',
  'reply_max_ms',
  'gaps',
  'longest_gap_ms',
  'packets_received',
  'packets_lost',
  'jitter_max_ms',
  'concealed_ms',
  'failures',
] as const

export const CSV_HEADER = `${COLUMNS.join(',')}\n`

/** A line of CSV (RFC 4180). */
export function csvLine(row: CallRow): string {
  const cells = {
    ...row,
    turns_answered: row.reply_ms.length,
    reply_max_ms: row.reply_ms.length === 0 ? null : Math.max(...row.reply_ms),
    failures: row.failures.map(({ kind, detail }) => `${kind}: ${detail}`).join('; '),
  }
  return `${COLUMNS.map(column => cell(cells[column])).join(',')}\n`
}

function cell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(Math.round(value * 10) / 10)
  // A cell that begins like a formula is shown as text by spreadsheets.
  const text = /^[=+\-@\t]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
