/** Why is this job not running? The words are the gateway's; the answer to "what next" is a button where there is one. */
import type { ReactNode } from 'react'
import type { ExplainAnswer, Job } from '../api/wire.ts'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { StateIcon } from '../parts/state-icon.tsx'

const TITLES: Readonly<Record<ExplainAnswer['way'], string>> = {
  pending: 'It waits to be let in.',
  queued: 'It waits for a worker.',
  delayed: 'It is not due yet.',
  held: 'It is held back.',
  waiting: 'It waits for a signal.',
  parked: 'It waits for a signal, for long.',
  paused: 'Its queue is paused.',
  running: 'It runs.',
  ended: 'It has ended.',
}

export function Why({ job, why }: { readonly job: Job; readonly why: ExplainAnswer | undefined }): ReactNode {
  if (why === undefined) return null
  return (
    <Card>
      <div className="flex gap-3 p-4">
        <span className="pt-0.5">
          <StateIcon state={job.state} />
        </span>
        <div className="flex min-w-0 flex-col gap-1">
          <h2 className="font-semibold">{TITLES[why.way]}</h2>
          <p className="text-text-2">{why.because}</p>
          {why.when === undefined || why.way === 'ended' ? null : (
            <p className="text-text-2">
              By itself: <Moment at={why.when} />
            </p>
          )}
          <p className="text-sm text-text-2">Next: {why.next}</p>
        </div>
      </div>
    </Card>
  )
}
