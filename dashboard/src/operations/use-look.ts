/** Counts by a dry run what an operation would be done to; asked again where the search, or the action, is another. */
import { useQuery } from '@tanstack/react-query'
import { type Action, type Operation, startOperation, useOperation } from '../api/operations.ts'

export interface Look {
  readonly look: Operation | undefined
  readonly error: unknown
  readonly again: () => void
}

export function useLook(action: Action, query: string): Look {
  const started = useQuery({
    queryKey: ['look', action, query],
    queryFn: () => startOperation({ action, query, dryRun: true }),
    staleTime: Number.POSITIVE_INFINITY,
    // Forgotten at once: a number that somebody is to agree to is never one of before.
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  })
  const seen = useOperation(started.data?.id)
  return {
    look: seen.data,
    error: started.error ?? seen.error,
    again: () => void started.refetch(),
  }
}
