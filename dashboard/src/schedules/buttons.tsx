/** What may be done to a schedule; greyed where the token may not. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ask, segment } from '../api/http.ts'
import type { Schedule } from '../api/schedules.ts'
import { useSession } from '../api/session.tsx'
import { Tip } from '../parts/tip.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'

interface Made {
  readonly job?: { readonly id: string }
}

interface Word {
  readonly word: 'pause' | 'resume' | 'run'
  readonly route: string
  readonly text: string
}

const RUN: Word = { word: 'run', route: 'runSchedule', text: 'Run now' }
const PAUSE: Word = { word: 'pause', route: 'pauseSchedule', text: 'Pause' }
const RESUME: Word = { word: 'resume', route: 'resumeSchedule', text: 'Resume' }

export function ScheduleButtons({ schedule }: { readonly schedule: Schedule }): ReactNode {
  return (
    <span className="inline-flex gap-2">
      <ScheduleButton name={schedule.name} {...RUN} />
      <ScheduleButton name={schedule.name} {...(schedule.paused ? RESUME : PAUSE)} />
    </span>
  )
}

function ScheduleButton({ name, word, route, text }: Word & { readonly name: string }): ReactNode {
  const session = useSession()
  const client = useQueryClient()
  const say = useSay()
  const { mutate, isPending } = useMutation({
    mutationFn: () => ask<Made>(`/v1/schedules/${segment(name)}/${word}`, { method: 'POST' }),
    onSuccess: ({ job }) => {
      say(told(name, word, job?.id))
      void client.invalidateQueries({ queryKey: ['schedules'] })
    },
    onError: (error) => say(refusal(error), true),
  })
  if (!session.can(route))
    return (
      <Tip text={`Your token is of scope ${session.scope}, which may not ${word} schedules.`}>
        <button type="button" className="btn" aria-disabled="true">
          {text}
        </button>
      </Tip>
    )
  return (
    <button type="button" className="btn" disabled={isPending} aria-label={`${text}: ${name}`} onClick={() => mutate()}>
      {text}
    </button>
  )
}

function told(name: string, word: Word['word'], id: string | undefined): ReactNode {
  if (word === 'pause') return `${name} makes no jobs: times are missed until it is resumed.`
  if (word === 'resume' || id === undefined) return `${name} goes on with its next time.`
  return (
    <>
      A job of {name} was made, now and besides:{' '}
      <Link className="link mono" href={`/jobs/${encodeURIComponent(id)}`}>
        {id}
      </Link>
    </>
  )
}
