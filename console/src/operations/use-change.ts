import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'

/** A write of the API after which the lists under `queryKey` are read again. */
export function useChange<Input, Result>(queryKey: QueryKey, change: (input: Input) => Promise<Result>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: change, onSuccess: () => queries.invalidateQueries({ queryKey }) })
}
