/** Says a word about a job, once, and tells what came of it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createElement } from 'react'
import { ask, segment } from '../api/http.ts'
import type { Job } from '../api/wire.ts'
import { refusal, useSay } from '../parts/toasts.tsx'

interface Answer {
  readonly state: string
  readonly rev: number
}

export interface Act {
  readonly word: string
  readonly body?: Readonly<Record<string, unknown>>
}

export function useAct(job: Pick<Job, 'id' | 'rev'>) {
  const client = useQueryClient()
  const say = useSay()
  return useMutation({
    mutationFn: ({ word, body = {} }: Act) =>
      ask<Answer>(`/v1/jobs/${segment(job.id)}/${word}`, {
        method: 'POST',
        body: { ...body, requestId: crypto.randomUUID() },
      }),
    onSuccess: ({ state, rev }, { word }) => {
      say(createElement('span', null, `${SAID[word] ?? 'Done'}. The job is ${state}, revision ${rev}.`))
      for (const queryKey of [['job', job.id], ['tally'], ['pending'], ['decisions']])
        void client.invalidateQueries({ queryKey })
    },
    onError: (error) => say(refusal(error), true),
  })
}

const SAID: Readonly<Record<string, string>> = {
  approve: 'Approved: the policy lets it in, if it still says so',
  admit: 'Admitted',
  deny: 'Denied',
  cancel: 'Cancel asked',
  signal: 'Signal sent',
  reschedule: 'It is due now',
  reopen: 'Reopened with fresh budgets',
  deadletter: 'Put aside',
}
