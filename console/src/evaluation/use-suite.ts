import { ParleyApiError } from '@parley/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'
import type { SuiteEdits } from './case-fields.ts'

/** A suite, and its edits under compare-and-set on the revision that is shown. */
export function useSuite(suiteId: string) {
  const api = useApi()
  const queries = useQueryClient()
  const queryKey = ['test_suites.get', suiteId]
  const found = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.testSuites.get({ params: { suite_id: suiteId } }, { signal }),
  })
  const edit = useMutation({
    mutationFn: (edits: SuiteEdits) =>
      api.testSuites.edit({
        params: { suite_id: suiteId },
        body: { expected_revision: found.data!.revision, edits },
      }),
    onSuccess: suite => {
      queries.setQueryData(queryKey, suite)
      return queries.invalidateQueries({ queryKey: ['test_suites.list'] })
    },
    onError: error => {
      if (isStale(error)) void queries.invalidateQueries({ queryKey })
    },
  })
  return { found, edit }
}

/** Whether the suite was changed elsewhere after it was read. */
export function isStale(error: unknown): boolean {
  return error instanceof ParleyApiError && error.reason === 'stale_revision'
}
