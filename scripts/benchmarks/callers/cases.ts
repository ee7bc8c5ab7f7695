import { type ScriptedCaller, scriptedCaller } from '@parley/contract'
import type { ExampleName } from '@parley/examples'
import { ENGLISH_CASES } from './english-cases.ts'
import { SPANISH_CASES } from './spanish-cases.ts'
import type { WrittenCase } from './written-case.ts'

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
