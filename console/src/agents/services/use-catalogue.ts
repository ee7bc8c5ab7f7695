import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../api/api.tsx'
import type { Voice } from './choices.ts'

/** Most entries of the catalogue that a list of choices shows. */
const MOST = 1000

/** The recognisers or the voices that the platform knows. */
export function useVoices(role: Voice['role']) {
  const api = useApi()
  return useQuery({
    queryKey: ['voices.list', role],
    queryFn: async ({ signal }) => {
      const items: Voice[] = []
      for await (const item of api.voices.list.all({ query: { role, limit: 200 } }, { signal })) {
        items.push(item)
        if (items.length === MOST) break
      }
      return items
    },
  })
}
