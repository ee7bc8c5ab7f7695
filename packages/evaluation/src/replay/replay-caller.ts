import type { TimelineItem } from '@parley/conversation'
import type { CallerMove, HeardByCaller, TextCaller } from '../caller-move.ts'
import type { Persona } from '../persona/persona.ts'

const MAX_NAME = 128
const MAX_VALUE = 512
const MAX_FACTS = 100
const MAX_GOAL = 500

/** A caller that makes the recorded turns up to one of them, and is then played by another; null: it hangs up. */
export class ReplayCaller implements TextCaller {
  readonly #turns: readonly CallerMove[]
  readonly #goesOn: TextCaller | null
  #next = 0

  constructor(turns: readonly CallerMove[], goesOn: TextCaller | null) {
    this.#turns = turns
    this.#goesOn = goesOn
  }

  async next(heard: HeardByCaller, signal: AbortSignal): Promise<CallerMove> {
    return this.#turns[this.#next++] ?? (await this.#goesOn?.next(heard, signal)) ?? { type: 'hang-up' }
  }
}

/** What the caller said and pressed in a recorded timeline up to the end of turn `last`: turns begin with words, and 0 is before the first. */
export function recordedTurns(timeline: readonly TimelineItem[], last: number): CallerMove[] {
  const moves: CallerMove[] = []
  let turn = 0
  for (const item of timeline) {
    const isWords = item.kind === 'utterance' && item.role === 'user'
    if (isWords && ++turn > last) break
    if (isWords) moves.push({ type: 'turn', text: item.text, digits: null, steps: [] })
    else if (item.kind === 'digits' && item.direction === 'in')
      moves.push({ type: 'turn', text: null, digits: item.digits, steps: [] })
  }
  return moves
}

/** A persona with what the caller said: each answer is a fact under the question before it. */
export function personaOf(timeline: readonly TimelineItem[]): Persona {
  const facts: Record<string, string> = {}
  let question = ''
  let goal = ''
  for (const item of timeline) {
    if (item.kind !== 'utterance') continue
    if (item.role === 'agent') question = item.text
    else {
      if (goal === '') goal = item.text
      else if (question !== '' && Object.keys(facts).length < MAX_FACTS)
        facts[cut(question, MAX_NAME)] = cut(item.text, MAX_VALUE)
      question = ''
    }
  }
  return {
    kind: 'persona',
    goal: cut(goal === '' ? 'Hello?' : goal, MAX_GOAL),
    brief: 'The caller of a recorded call: it wants what it wanted then, and knows what it said then.',
    facts,
    behavior: { verbosity: 'short', patience: 3, interrupts: 'never', pauses: 'never', backchannels: 'never' },
  }
}

function cut(text: string, most: number): string {
  return [...text].slice(0, most).join('')
}
