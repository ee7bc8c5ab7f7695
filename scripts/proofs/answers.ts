import type { Ms } from '@parley/kernel'
import { ANSWER_ROWS, type AnswerRow } from './answers/answer-rows.ts'
import { AnsweringPlatform } from './answers/answering-platform.ts'
import { faultsOf } from './answers/row-check.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** A message starts within this time of the beep, on a machine that is not busy. */
const MESSAGE_WITHIN_MS: Ms = 300

/**
 * Calls a phone over TLS and SRTP that plays each kind of far end, from a platform with its database and API. Checks what was detected,
 * how the run ended, its effects, its webhook and its place in the list of runs, what the far end heard, and in the recording where the
 * message begins.
 */
export async function proveAnswers(
  { line, progress }: ProofOptions,
  rows: readonly AnswerRow[] = ANSWER_ROWS,
  messageWithinMs = MESSAGE_WITHIN_MS,
): Promise<ProofOutcome> {
  const platform = await AnsweringPlatform.open(rows)
  try {
    await platform.prepare(rows)
    const faults = await Promise.all(
      rows.map(async (row, index) => {
        const evidence = await platform.call(index)
        const { run_id, contact } = evidence.run
        const isListed = contact !== null && (await platform.listed(contact)).includes(run_id)
        const found = [
          ...faultsOf(row, evidence, messageWithinMs),
          ...(isListed ? [] : [`the list of runs with contact ${contact} lacks it`]),
        ]
        line({ proof: 'answers', row: row.name, faults: found })
        progress(`${row.name}: ${found.length === 0 ? 'as expected' : found.join('; ')}`)
        return found
      }),
    )
    const failed = faults.filter(found => found.length > 0).length
    return { ok: failed === 0, summary: { rows: rows.length, failed } }
  } finally {
    await platform.close()
  }
}

export const proof: Proof = {
  name: 'answers',
  seconds: 300,
  count: ANSWER_ROWS.length,
  run: options => proveAnswers(options, ANSWER_ROWS.slice(0, options.count)),
}
