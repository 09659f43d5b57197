import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ask, segment } from '../api/http.ts'
import { useSession } from '../api/session.tsx'
import type { Queue } from '../api/wire.ts'
import { Tip } from '../parts/tip.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'
import { plural } from '../words/format.ts'

export function PauseButton({ queue }: { readonly queue: Queue }): ReactNode {
  const session = useSession()
  const client = useQueryClient()
  const say = useSay()
  const word = queue.paused ? 'resume' : 'pause'
  const { mutate, isPending } = useMutation({
    mutationFn: () => ask(`/v1/queues/${segment(queue.queue)}/${word}`, { method: 'POST' }),
    onSuccess: () => {
      say(
        queue.paused
          ? `Queue ${queue.queue} gives to workers again.`
          : `Queue ${queue.queue} is paused: ${plural(queue.counts.running ?? 0, 'job')} under way go on, nothing new is given out.`,
      )
      void client.invalidateQueries({ queryKey: ['queues'] })
    },
    onError: (error) => say(refusal(error), true),
  })
  const text = queue.paused ? 'Resume' : 'Pause'
  if (!session.can('pauseQueue'))
    return (
      <Tip text={`Your token is of scope ${session.scope}, which may not ${word} queues.`}>
        <button type="button" className="btn" aria-disabled="true">
          {text}
        </button>
      </Tip>
    )
  return (
    <button
      type="button"
      className="btn"
      disabled={isPending}
      aria-label={`${text} ${queue.queue}`}
      onClick={() => mutate()}
    >
      {text}
    </button>
  )
}
