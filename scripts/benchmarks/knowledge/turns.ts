import { quantile } from '../quantile.ts'
import { callerLines } from '../turn/callers.ts'
import type { SearchedDocuments } from '../turn/messages.ts'
import { measureRow, type Row } from '../turn/row.ts'

/** Turns before V8 has compiled the hot code. */
const WARM_UP_TURNS = 3
const QUIET_MS = 1000

export interface TurnComparison {
  /** From the caller's last audible frame to the agent's first, with documents over without; medians of the rounds. */
  readonly turn_p50_ratio: number
  readonly turn_p95_ratio: number
  /** Share of the model's requests with passages. */
  readonly turns_with_passages: number
}

interface TurnOptions {
  /** Each is a call without documents and one with them. */
  readonly rounds: number
  /** Measured turns of each call. */
  readonly turns: number
  readonly line: (record: object) => void
  readonly progress: (text: string) => void
}

/** Turns of calls whose agent searches documents, compared with those of one that has none. */
export async function measureTurns(
  documents: SearchedDocuments,
  { rounds, turns, line, progress }: TurnOptions,
): Promise<TurnComparison> {
  const lines = await callerLines(true)
  const fixed = { calls: 1, turns, warmUpTurns: WARM_UP_TURNS, quietMs: QUIET_MS, lines, plantedMs: 0, services: null }
  const measured = async (searches: boolean) => {
    const row = await measureRow({ ...fixed, asksAhead: false, ...(searches && { documents }) })
    line({ bench: 'knowledge', what: 'turns', documents: searches, ...row })
    return row
  }
  const pairs: { readonly without: Row; readonly searching: Row }[] = []
  for (let round = 0; round < rounds; round++) {
    progress(`calls without documents and with them, round ${round + 1} of ${rounds}`)
    pairs.push({ without: await measured(false), searching: await measured(true) })
  }
  const ratio = (of: 'e2e_p50_ms' | 'e2e_p95_ms') =>
    Number(
      quantile(
        pairs.map(({ without, searching }) => searching[of] / without[of]),
        0.5,
      ).toFixed(3),
    )
  const requests = pairs.reduce((sum, { searching }) => sum + searching.answers_too_many + WARM_UP_TURNS + turns, 0)
  const withPassages = pairs.reduce((sum, { searching }) => sum + searching.answers_with_passages, 0)
  return {
    turn_p50_ratio: ratio('e2e_p50_ms'),
    turn_p95_ratio: ratio('e2e_p95_ms'),
    turns_with_passages: Number((withPassages / requests).toFixed(3)),
  }
}
