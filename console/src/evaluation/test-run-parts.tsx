import type { ResultFrom } from '@parley/client'
import { useTexts } from '../i18n/i18n.tsx'
import { Badge, type Tone } from '../ui/parts.tsx'
import type { CaseResult } from './comparison.ts'

export type TestRun = ResultFrom<'test_runs.get'>

/** US dollars, with the digits that small amounts need. */
export const USD = { style: 'currency', currency: 'USD', maximumFractionDigits: 4 } as const

const TONES: Readonly<Record<NonNullable<CaseResult['verdict']>, Tone>> = {
  passed: 'good',
  failed: 'bad',
  errored: 'warn',
  invalid: 'warn',
}

export const CHANGE_TONES: Readonly<Record<NonNullable<CaseResult['change']>, Tone>> = {
  regressed: 'bad',
  fixed: 'good',
  same: 'neutral',
  new: 'neutral',
}

interface VerdictProps {
  readonly verdict: CaseResult['verdict']
  readonly state?: TestRun['state']
}

/** The verdict; before there is one, the state. */
export function VerdictBadge({ verdict, state }: VerdictProps) {
  const { word } = useTexts()
  if (verdict !== null) return <Badge tone={TONES[verdict]}>{word('verdict', verdict)}</Badge>
  if (state === undefined) return '–'
  return <Badge tone={state === 'running' ? 'live' : 'neutral'}>{word('testState', state)}</Badge>
}

/** Whether no result of the test run can change any more. */
export function isFinished({ state }: Pick<TestRun, 'state'>): boolean {
  return state === 'completed' || state === 'cancelled'
}
