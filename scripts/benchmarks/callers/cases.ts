import { type ScriptedCaller, scriptedCaller } from '@parley/contract'
import type { ExampleName } from '@parley/examples'
import type { Ms } from '@parley/kernel'
import { ENGLISH_CASES } from './english-cases.ts'
import { SPANISH_CASES } from './spanish-cases.ts'

/** What a case tries. */
export type CaseKind =
  | 'plain'
  | 'keys-while-speaking'
  | 'number-in-groups'
  | 'spelled-name'
  | 'one-word'
  | 'hesitation'
  | 'correction'
  | 'silence'
  | 'barge-in'
  | 'hang-up-in-action'

/** A script as it is written down. A step with `silence_ms` up to 3000 and words continues the turn of the step before it. */
export interface WrittenCase {
  readonly kind: CaseKind
  readonly name: string
  readonly steps: readonly object[]
  /** Delay of the agent’s actions; default 100. */
  readonly actionMs?: Ms
  /** The caller is silent on purpose, so that the agent says its sentences again. */
  readonly mayRepeat?: boolean
}

export interface CallerCase extends Omit<WrittenCase, 'steps'> {
  readonly id: string
  readonly agent: ExampleName
  readonly language: 'en' | 'es'
  readonly caller: ScriptedCaller
}

function cases(language: CallerCase['language'], agent: ExampleName, written: readonly WrittenCase[]): CallerCase[] {
  return written.map(({ steps, ...rest }, i) => ({
    ...rest,
    id: `${language}-${String(i + 1).padStart(2, '0')}`,
    agent,
    language,
    caller: scriptedCaller.parse({ kind: 'script', steps }),
  }))
}

export const CASES: readonly CallerCase[] = [
  ...cases('en', 'clinic', ENGLISH_CASES),
  ...cases('es', 'pizza', SPANISH_CASES),
]
