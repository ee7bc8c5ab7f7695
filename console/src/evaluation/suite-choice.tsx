import { useQuery } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import { CheckList } from '../ui/check-list.tsx'
import { Fault } from '../ui/parts.tsx'

interface SuiteChoiceProps {
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** Test suites of the environment, with the number of their cases. */
export function SuiteChoice({ chosen, onChange }: SuiteChoiceProps) {
  const api = useApi()
  const suites = useQuery({
    queryKey: ['test_suites.list', 'names'],
    queryFn: ({ signal }) => api.testSuites.list({ query: { limit: 200 } }, { signal }),
  })
  if (suites.isError) return <Fault error={suites.error} />
  const choices = suites.data?.items.map(
    ({ suite_id, name, case_count }) => [suite_id, `${name} (${case_count})`] as const,
  )
  return (
    <CheckList legend="suite.title" empty="suite.empty" choices={choices ?? null} chosen={chosen} onChange={onChange} />
  )
}
