/** Why is this job not running? The words are the gateway's; the answer to "what next" is a button where there is one. */
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { actionsFor } from '../actions/actions.ts'
import { ActionForm } from '../actions/form.tsx'
import { Meanwhile } from '../actions/meanwhile.tsx'
import { type Refused, useAct } from '../actions/use-act.ts'
import { useRules } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { ExplainAnswer, Job } from '../api/wire.ts'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { Tip } from '../parts/tip.tsx'

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

/** What to do about it, where this page can do it. */
function Next({ job, way }: { readonly job: Job; readonly way: ExplainAnswer['way'] }): ReactNode {
  const rules = useRules([job])
  const session = useSession()
  const [refused, setRefused] = useState<Refused>()
  const act = useAct(job, setRefused)
  const [isAsked, setAsked] = useState(false)
  if (way === 'paused')
    return (
      <Link className="link text-sm" href={`/queues/${encodeURIComponent(job.queue)}`}>
        Look at queue {job.queue}
      </Link>
    )
  // What may never be opened again is followed by another one like it.
  const isOver = way === 'ended' && rules !== undefined && rules.machine.commands['reopen']?.[job.state] === undefined
  if (isOver)
    return session.can('createJob') ? (
      <Link
        className="btn self-start"
        href={`/new?type=${encodeURIComponent(job.type)}&from=${encodeURIComponent(job.id)}`}
      >
        Do this…
      </Link>
    ) : (
      <Tip text={`Your token is of scope ${session.scope}, which may not enqueue jobs.`}>
        <button type="button" className="btn self-start" aria-disabled="true">
          Do this
        </button>
      </Tip>
    )
  const word = WORDS[way]
  const action = rules === undefined ? undefined : actionsFor(job, rules, session).find((each) => each.word === word)
  if (action === undefined || action.forbidden !== undefined) return null
  const press = () =>
    action.asks ? setAsked(true) : act.mutate({ word: action.word, body: action.bodyOf?.(job) ?? {} })
  return (
    <>
      {refused === undefined ? null : <Meanwhile refused={refused} onClose={() => setRefused(undefined)} />}
      <button
        type="button"
        className="btn self-start"
        // The same word stands on a button in the row of all that may be done: twice it would only be noise.
        disabled={act.isPending}
        onClick={press}
      >
        {action.asks ? 'Do this…' : 'Do this'}
      </button>
      {isAsked ? (
        <ActionForm
          action={action}
          job={job}
          onClose={() => setAsked(false)}
          onSay={(body) => {
            setAsked(false)
            act.mutate({ word: action.word, body })
          }}
        />
      ) : null}
    </>
  )
}

/** Which of the words for one job helps, by why it does not run. */
const WORDS: Readonly<Partial<Record<ExplainAnswer['way'], string>>> = {
  pending: 'approve',
  delayed: 'reschedule',
  waiting: 'signal',
  parked: 'signal',
  ended: 'reopen',
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
          {job.lastFailure === undefined || job.state === 'succeeded' ? null : (
            <p className="break-words">
              <span className="mono text-bad">{job.lastFailure.code}</span> {job.lastFailure.message}
            </p>
          )}
          {why.when === undefined || why.way === 'ended' ? null : (
            <p className="text-text-2">
              By itself: <Moment at={why.when} />
            </p>
          )}
          <p className="text-sm text-text-2">Next: {why.next}</p>
          <Next job={job} way={why.way} />
        </div>
      </div>
    </Card>
  )
}
