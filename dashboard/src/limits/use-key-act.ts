/** Says a word about a key; what came of it is told, and what is shown of keys is asked for again. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask, segment, type Words } from '../api/http.ts'
import { refusal, useSay } from '../parts/toasts.tsx'

export interface KeyAct extends Pick<Words, 'body'> {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly told: string
}

export function useKeyAct(key: string): { readonly act: (word: KeyAct) => void; readonly isPending: boolean } {
  const client = useQueryClient()
  const say = useSay()
  const { mutate, isPending } = useMutation({
    mutationFn: ({ method, path, body }: KeyAct) => ask(`/v1/limits/${segment(key)}${path}`, { method, body }),
    onSuccess: (_, { told }) => say(`${key}: ${told}`),
    onError: (error) => say(refusal(error), true),
    onSettled: () => Promise.all(['limits', 'limit'].map((first) => client.invalidateQueries({ queryKey: [first] }))),
  })
  return { act: mutate, isPending }
}
