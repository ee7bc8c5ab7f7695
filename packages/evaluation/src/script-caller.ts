import type { ScriptedCaller } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { CallerMove, TextCaller } from './caller-move.ts'

/** A step with at most this silence before its words goes on with the turn of the step before it. */
export const LONGEST_PAUSE_INSIDE_MS: Ms = 3000

/**
 * A caller that follows a script in text. Words after a short pause belong to the turn before, a longer silence is one of the
 * caller's, and there are no interruptions. After the last step the caller hangs up.
 */
export class ScriptCaller implements TextCaller {
  readonly #moves: CallerMove[]

  constructor(script: ScriptedCaller) {
    this.#moves = movesOf(script)
  }

  async next(): Promise<CallerMove> {
    return this.#moves.shift() ?? { type: 'hang-up' }
  }
}

function movesOf({ steps }: ScriptedCaller): CallerMove[] {
  const moves: CallerMove[] = []
  for (const [index, { says, plays, presses, silence_ms: silence, hangs_up }] of steps.entries()) {
    const text = says ?? plays?.text ?? null
    const last = moves.at(-1)
    const isContinuation = silence !== undefined && silence <= LONGEST_PAUSE_INSIDE_MS && last?.type === 'turn'
    if (silence !== undefined && !isContinuation) moves.push({ type: 'silence', ms: silence })
    if (isContinuation)
      moves[moves.length - 1] = {
        type: 'turn',
        text: [last.text, text].filter(part => part !== null).join(' ') || null,
        digits: `${last.digits ?? ''}${presses ?? ''}` || null,
        steps: [...last.steps, index + 1],
      }
    else if (text !== null || presses !== undefined)
      moves.push({ type: 'turn', text, digits: presses ?? null, steps: [index + 1] })
    if (hangs_up) moves.push({ type: 'hang-up' })
  }
  return moves
}
