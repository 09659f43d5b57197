/** A job's buttons. What is not allowed stays in its place, greyed, and says which rule forbids it. */
import { type ReactNode, useState } from 'react'
import { useRules } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Job } from '../api/wire.ts'
import { useKeys } from '../frame/keys.ts'
import { Card } from '../parts/card.tsx'
import { Tip } from '../parts/tip.tsx'
import { useMedia } from '../words/media.ts'
import { type Action, actionsFor, isAskedAbout } from './actions.ts'
import { ActionForm } from './form.tsx'
import { Meanwhile } from './meanwhile.tsx'
import { MoreMenu } from './more-menu.tsx'
import { type Refused, useAct } from './use-act.ts'

/** Admission is about jobs that nobody has let in: elsewhere it would be noise. What a policy asks a person about is approved. */
function isShown({ command, forbidden }: Action, job: Job): boolean {
  if (command === 'approve') return isAskedAbout(job)
  if (command === 'admit') return forbidden === undefined && !isAskedAbout(job)
  return command !== 'deny' || forbidden === undefined
}

export interface ActionButtonsProps {
  readonly job: Job
  /** At the bottom of a phone, where a thumb is. */
  readonly isBar?: boolean
}

export function ActionButtons({ job, isBar = false }: ActionButtonsProps): ReactNode {
  const rules = useRules([job])
  const session = useSession()
  const [refused, setRefused] = useState<Refused>()
  const act = useAct(job, setRefused)
  const [asked, setAsked] = useState<Action>()
  const all = rules === undefined ? [] : actionsFor(job, rules, session)
  const shown = all.filter((action) => isShown(action, job))
  const press = (action: Action) =>
    action.asks ? setAsked(action) : act.mutate({ word: action.word, body: action.bodyOf?.(job) ?? {} })
  const pressed = shown.flatMap((action) =>
    action.key === undefined || action.forbidden !== undefined ? [] : [[action.key, () => press(action)] as const],
  )
  useKeys(asked === undefined ? Object.fromEntries(pressed) : {})
  return (
    <div
      className={
        isBar ? 'fixed inset-x-0 bottom-15 z-20 border-t border-line bg-bg px-3 py-2' : 'flex flex-col items-end gap-2'
      }
      role="toolbar"
      aria-label="Actions"
      data-of={job.id}
    >
      {refused === undefined ? null : <Meanwhile refused={refused} onClose={() => setRefused(undefined)} />}
      <div className={`flex gap-2 ${isBar ? 'overflow-x-auto' : 'flex-wrap justify-end'}`}>
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
              <button type="button" className="btn" aria-disabled="true" data-why={action.forbidden}>
                {action.text.replace('…', '')}
              </button>
            </Tip>
          ),
        )}
        <MoreMenu job={job} />
      </div>
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

/** Where nothing can be pointed at: what cannot be done, and by which rule. */
export function NotPossible({ job }: { readonly job: Job }): ReactNode {
  const isTouched = useMedia('(pointer: coarse)')
  const rules = useRules([job])
  const session = useSession()
  const forbidden = (rules === undefined ? [] : actionsFor(job, rules, session)).filter(
    (action) => isShown(action, job) && action.forbidden !== undefined,
  )
  if (!isTouched || forbidden.length === 0) return null
  return (
    <Card title="Not possible now">
      <ul className="flex flex-col gap-1 px-4 pb-4 text-sm text-text-2">
        {forbidden.map(({ command, text, forbidden: why }) => (
          <li key={command}>
            <b className="font-medium text-text">{text.replace('…', '')}:</b> {why}
          </li>
        ))}
      </ul>
    </Card>
  )
}
