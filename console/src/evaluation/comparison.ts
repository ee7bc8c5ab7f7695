import type { ResultFrom } from '@parley/client'

export type CaseResult = ResultFrom<'test_runs.results'>['items'][number]

type Judged = Pick<CaseResult, 'suite_id' | 'case_id' | 'verdict'>

/** A case of a test run beside the same case of another test run. */
interface ComparedCase<Case extends Judged> {
  readonly result: Case
  /** Null: the other test run has no such case. */
  readonly other: Judged | null
  /** Null: one of the two has no verdict. */
  readonly change: CaseResult['change']
}

/** The cases of `results` in their order, each beside the case of `others` with the same suite and id. */
export function compared<Case extends Judged>(
  results: readonly Case[],
  others: readonly Judged[],
): readonly ComparedCase<Case>[] {
  const byId = new Map(others.map(other => [idOf(other), other]))
  return results.map(result => {
    const other = byId.get(idOf(result)) ?? null
    return { result, other, change: changeOf(result, other) }
  })
}

function changeOf({ verdict }: Judged, other: Judged | null): CaseResult['change'] {
  if (other === null) return 'new'
  if (verdict === null || other.verdict === null) return null
  if (verdict === 'passed') return other.verdict === 'passed' ? 'same' : 'fixed'
  return other.verdict === 'passed' ? 'regressed' : 'same'
}

/** How many cases have each change, without those that are the same. */
export function changeCounts(cases: readonly { readonly change: CaseResult['change'] }[]) {
  const count = (wanted: CaseResult['change']) => cases.filter(({ change }) => change === wanted).length
  return { regressed: count('regressed'), fixed: count('fixed'), new: count('new') }
}

export function idOf({ suite_id, case_id }: Pick<CaseResult, 'suite_id' | 'case_id'>): string {
  return `${suite_id} ${case_id}`
}
