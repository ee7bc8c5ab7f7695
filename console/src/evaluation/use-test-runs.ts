import { useQuery } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import type { CaseResult } from './comparison.ts'
import { isFinished, type TestRun } from './test-run-parts.tsx'

/** How often a test run that has not ended is read again, in ms. */
export const REFRESH_MS = 2000

export function useTestRun(testRunId: string) {
  const api = useApi()
  return useQuery({
    queryKey: ['test_runs.get', testRunId],
    queryFn: ({ signal }) => api.testRuns.get({ params: { test_run_id: testRunId } }, { signal }),
    refetchInterval: query => (query.state.data !== undefined && isFinished(query.state.data) ? false : REFRESH_MS),
  })
}

/** All results of a test run, up to 1000 cases; again while it runs. Null: no test run. */
export function useResults(testRun: Pick<TestRun, 'test_run_id' | 'state'> | null) {
  const api = useApi()
  return useQuery({
    queryKey: ['test_runs.results', testRun?.test_run_id, testRun?.state],
    enabled: testRun !== null,
    queryFn: async ({ signal }) => {
      const items: CaseResult[] = []
      const request = { params: { test_run_id: testRun!.test_run_id }, query: { limit: 200 } }
      for await (const item of api.testRuns.results.all(request, { signal })) items.push(item)
      return items
    },
    placeholderData: previous => previous,
    refetchInterval: testRun === null || isFinished(testRun) ? false : REFRESH_MS,
  })
}

/** The completed test runs of an agent, newest first: what another one can be compared with. */
export function useBaselines(agentId: string) {
  const api = useApi()
  return useQuery({
    queryKey: ['test_runs.list', 'completed', agentId],
    enabled: agentId !== '',
    queryFn: ({ signal }) =>
      api.testRuns.list({ query: { agent_id: agentId, state: 'completed', limit: 50 } }, { signal }),
  })
}
