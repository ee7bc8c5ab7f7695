import { useQuery } from '@tanstack/react-query'
import { useApi } from '../api/api.tsx'

/** The first 200 agents by name. */
export function useAgentNames() {
  const api = useApi()
  return useQuery({
    queryKey: ['agents.list', 'names'],
    queryFn: ({ signal }) => api.agents.list({ query: { limit: 200, sort: 'name_asc' } }, { signal }),
    staleTime: 60_000,
  })
}
