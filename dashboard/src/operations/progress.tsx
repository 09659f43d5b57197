/** How far an operation is, what was refused, and the way to stop it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { cancelOperation, type Operation } from '../api/operations.ts'
import { useSession } from '../api/session.tsx'
import { Ask } from '../parts/ask.tsx'
import { Tip } from '../parts/tip.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'
import { count } from '../words/format.ts'
import { sentenceOf } from './words.ts'

export function OperationProgress({ operation }: { readonly operation: Operation }): ReactNode {
  const { endedAt, error, report } = operation
  return (
    <div aria-live="polite" className="flex flex-col gap-2">
      <p className={error === undefined ? 'font-medium' : 'font-medium text-bad'}>{sentenceOf(operation)}</p>
      {endedAt === undefined ? <Bar operation={operation} /> : null}
      <Refusals refusals={report.refusals} all={report.refused} />
    </div>
  )
}

/** Without an end until it is known how many there are. */
export function Bar({ operation: { progress, report } }: { readonly operation: Operation }): ReactNode {
  const total = progress?.total
  const done = progress?.done ?? report.done
  return (
    <div>
      <progress
        className="h-1.5 w-full accent-[var(--work)]"
        aria-label="How far it is"
        {...(total === undefined ? {} : { value: done, max: Math.max(1, total) })}
      />
      <p className="text-sm text-text-2">
        {count(done)}
        {total === undefined ? ' so far' : ` of ${count(total)}`}
        {progress?.message === undefined ? '' : `, ${progress.message}`}
      </p>
    </div>
  )
}

const REFUSALS_SHOWN = 5

function Refusals({
  refusals,
  all,
}: {
  readonly refusals: Operation['report']['refusals']
  readonly all: number
}): ReactNode {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? refusals : refusals.slice(0, REFUSALS_SHOWN)
  return (
    <>
      {shown.map(({ id, code, message }) => (
        <p key={id} className="text-sm break-words text-text-2">
          <Link className="link mono" href={`/jobs/${encodeURIComponent(id)}`}>
            {id}
          </Link>{' '}
          {message} <span className="mono text-text-3">{code}</span>
        </p>
      ))}
      {refusals.length > shown.length ? (
        <button type="button" className="btn self-start" onClick={() => setWhole(true)}>
          Show {count(refusals.length)} of {count(all)} refused
        </button>
      ) : null}
    </>
  )
}

export function StopButton({ operation: { id, endedAt } }: { readonly operation: Operation }): ReactNode {
  const session = useSession()
  const client = useQueryClient()
  const say = useSay()
  const [isAsking, setAsking] = useState(false)
  const { mutate, isPending } = useMutation({
    mutationFn: () => cancelOperation(id),
    onSuccess: () => say('It stops before its next page. What was done stays done.'),
    onError: (error) => say(refusal(error), true),
    onSettled: () => client.invalidateQueries({ queryKey: ['operations'] }),
  })
  const why = session.can('cancelOperation')
    ? endedAt === undefined
      ? undefined
      : 'It has ended: there is nothing left to stop.'
    : `Your token is of scope ${session.scope}, which may not stop operations.`
  if (why !== undefined)
    return (
      <Tip text={why}>
        <button type="button" className="btn" aria-disabled="true">
          Stop
        </button>
      </Tip>
    )
  return (
    <>
      <button type="button" className="btn" disabled={isPending} onClick={() => setAsking(true)}>
        Stop…
      </button>
      <Ask
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Stop this operation?"
        close="Let it go on"
        actions={
          <button
            type="button"
            className="btn btn-danger"
            onClick={() => {
              setAsking(false)
              mutate()
            }}
          >
            Stop the operation
          </button>
        }
      >
        <p>It stops before its next page of a hundred jobs. What was done to jobs stays done.</p>
      </Ask>
    </>
  )
}
