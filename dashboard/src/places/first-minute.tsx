/** For whoever has just started the demo: what to look at first. Ticks itself off, and goes for ever when it is told to. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useSession } from '../api/session.tsx'
import type { TrafficAnswer } from '../api/wire.ts'
import { Icon } from '../parts/icon.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { useKept } from '../words/kept.ts'

interface Sight {
  readonly text: string
  /** Where it is seen. */
  readonly href: string
  /** Any of these has happened since the demo began. */
  readonly events: readonly string[]
}

const SIGHTS: readonly Sight[] = [
  { text: 'A job went through', href: '/jobs?q=type:greet state:succeeded', events: ['succeeded'] },
  { text: 'Watch one fail and come back', href: '/jobs?q=type:fetch.page', events: ['retry_scheduled'] },
  { text: 'A worker was killed; see its job recover', href: '/jobs?q=type:crawl.site runs:>1', events: ['stalled'] },
  { text: 'Approve one, or turn it away', href: '/approvals', events: ['admitted', 'denied'] },
]

/** The name of the token that the demo makes for its link. */
export const DEMO = 'demo'

export function FirstMinute({ traffic }: { readonly traffic: TrafficAnswer | undefined }): ReactNode {
  const session = useSession()
  const [is, keep] = useKept('first-minute', 'shown')
  if (session.name !== DEMO || is === 'dismissed') return null
  const happened = new Set(traffic?.changes.map(({ event }) => event as string))
  return (
    <section
      aria-label="First look"
      className="card relative flex flex-wrap items-center gap-x-6 gap-y-2 py-2 pr-10 pl-4"
    >
      <ol className="flex flex-wrap gap-x-6 gap-y-1">
        {SIGHTS.map(({ text, href, events }) => {
          const isDone = events.some((event) => happened.has(event))
          return (
            <li key={text} className="flex items-center gap-2">
              <StateIcon state={isDone ? 'succeeded' : 'pending'} />
              <Link className={isDone ? 'link' : 'text-text-2'} href={encodeURI(href)}>
                {text}
              </Link>
            </li>
          )
        })}
      </ol>
      <span className="text-text-3">
        This is demo work. Your own: <code className="mono">pawl serve --dashboard</code>
      </span>
      <button
        type="button"
        aria-label="Do not show this again"
        className="absolute top-2 right-2 icon-button"
        onClick={() => keep('dismissed')}
      >
        <Icon name="close" size={14} />
      </button>
    </section>
  )
}
