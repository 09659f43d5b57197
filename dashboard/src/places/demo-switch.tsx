/** Stops the work that the demo makes up, and lets it go on: it comes while a schedule of that name is not paused. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ask } from '../api/http.ts'
import { useSchedules } from '../api/schedules.ts'
import { refusal, useSay } from '../parts/toasts.tsx'

const WORK = 'demo-work'

export function DemoSwitch(): ReactNode {
  const { data } = useSchedules()
  const client = useQueryClient()
  const say = useSay()
  const { mutate, isPending } = useMutation({
    mutationFn: (word: 'pause' | 'resume') => ask(`/v1/schedules/${WORK}/${word}`, { method: 'POST' }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['schedules'] }),
    onError: (error) => say(refusal(error), true),
  })
  const schedule = data?.schedules.find(({ name }) => name === WORK)
  // A demo of an older version has none.
  if (schedule === undefined) return null
  return (
    <label className="flex items-center gap-2">
      <input
        type="checkbox"
        role="switch"
        aria-checked={!schedule.paused}
        className="size-3.5 accent-[var(--focus)]"
        checked={!schedule.paused}
        disabled={isPending}
        onChange={() => mutate(schedule.paused ? 'resume' : 'pause')}
      />
      {schedule.paused ? 'Demo work is stopped' : 'Demo work goes on'}
    </label>
  )
}
