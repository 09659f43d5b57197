/** A job's buttons. What is not allowed stays in its place, greyed, and says which rule forbids it. */
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { useMachine } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Job } from '../api/wire.ts'
import { useKeys } from '../frame/keys.ts'
import { Tip } from '../parts/tip.tsx'
import { type Action, actionsFor, isAskedAbout } from './actions.ts'
import { ActionForm } from './form.tsx'
import { useAct } from './use-act.ts'

/** Admission is about jobs that nobody has let in: elsewhere it would be noise. What a policy asks a person about is approved. */
function isShown({ command, forbidden }: Action, job: Job): boolean {
  if (command === 'approve') return isAskedAbout(job)
  if (command === 'admit') return forbidden === undefined && !isAskedAbout(job)
  return command !== 'deny' || forbidden === undefined
}

export function ActionButtons({ job }: { readonly job: Job }): ReactNode {
  const { data: machine } = useMachine()
  const session = useSession()
  const act = useAct(job)
  const [asked, setAsked] = useState<Action>()
  const all = machine === undefined ? [] : actionsFor(job, machine, session)
  const shown = all.filter((action) => isShown(action, job))
  const press = (action: Action) =>
    action.asks ? setAsked(action) : act.mutate({ word: action.word, body: action.bodyOf?.(job) ?? {} })
  const pressed = shown.flatMap((action) =>
    action.key === undefined || action.forbidden !== undefined ? [] : [[action.key, () => press(action)] as const],
  )
  useKeys(asked === undefined ? Object.fromEntries(pressed) : {})
  return (
    <div className="flex flex-wrap gap-2">
      {shown.map((action) =>
        action.forbidden === undefined ? (
          <button
            key={action.command}
            type="button"
            className="btn"
            disabled={act.isPending}
            onClick={() => press(action)}
          >
            {action.text}
          </button>
        ) : (
          <Tip key={action.command} text={action.forbidden}>
            <button type="button" className="btn" aria-disabled="true">
              {action.text.replace('…', '')}
            </button>
          </Tip>
        ),
      )}
      {session.can('createJob') ? (
        <Link
          className="btn"
          href={`/new?type=${encodeURIComponent(job.type)}&from=${encodeURIComponent(job.id)}`}
          title="A new job with this one's input, to be changed first"
        >
          Enqueue as new…
        </Link>
      ) : null}
      {asked === undefined ? null : (
        <ActionForm
          action={asked}
          job={job}
          onClose={() => setAsked(undefined)}
          onSay={(body) => {
            setAsked(undefined)
            act.mutate({ word: asked.word, body })
          }}
        />
      )}
    </div>
  )
}
