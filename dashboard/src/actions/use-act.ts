/** Says a word about a job, once, and tells what came of it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createElement } from 'react'
import { ask, BASE, queryOf, segment } from '../api/http.ts'
import type { Job, JobEvent } from '../api/wire.ts'
import { refusal, useSay } from '../parts/toasts.tsx'

interface Answer {
  readonly state: string
  readonly rev: number
}

export interface Act {
  readonly word: string
  readonly body?: Readonly<Record<string, unknown>>
}

export interface Refused {
  readonly problem: unknown
  /** What has happened since the job was read. */
  readonly since: readonly JobEvent[]
}

/** With the revision that was looked at: nobody acts on what they have not seen. `onRefused`: in its place, with what has changed meanwhile. */
export function useAct(job: Pick<Job, 'id' | 'rev'>, onRefused?: (refused: Refused | undefined) => void) {
  const client = useQueryClient()
  const say = useSay()
  const again = () => {
    for (const queryKey of [['job', job.id], ['tally'], ['pending'], ['decisions']])
      void client.invalidateQueries({ queryKey })
  }
  return useMutation({
    mutationFn: ({ word, body = {} }: Act) =>
      ask<Answer>(`/v1/jobs/${segment(job.id)}/${word}`, {
        method: 'POST',
        body: { ...body, ...(ANY_TIME.has(word) ? {} : { expectedRev: job.rev }), requestId: crypto.randomUUID() },
      }),
    onSuccess: ({ state, rev }, { word }) => {
      onRefused?.(undefined)
      const href = `${BASE}/jobs/${segment(job.id)}#rev-${rev}`
      const link = createElement('a', { className: 'link', href }, `revision ${rev}`)
      say(createElement('span', null, `${SAID[word] ?? 'Done'}. The job is ${state}, `, link, '.'))
      again()
    },
    onError: async (problem) => {
      if (onRefused === undefined) say(refusal(problem), true)
      again()
      const asked = `/v1/jobs/${segment(job.id)}/events${queryOf({ afterRev: job.rev, limit: SINCE_MOST })}`
      const { events: since } = await ask<{ readonly events: readonly JobEvent[] }>(asked).catch(() => ({ events: [] }))
      onRefused?.({ problem, since })
    },
  })
}

const SINCE_MOST = 5
/** What means the same whatever has happened meanwhile: a job that has just begun is to be cancelled all the same. */
const ANY_TIME: ReadonlySet<string> = new Set(['cancel', 'signal'])

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
