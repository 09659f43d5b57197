/** For whoever has just started the demo: what to look at first. Ticks itself off, and goes for ever when it is told to. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useNewestJob } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { TrafficAnswer } from '../api/wire.ts'
import { Icon } from '../parts/icon.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { useKept } from '../words/kept.ts'
import { DemoSwitch } from './demo-switch.tsx'
import { ANSWERED, DEMO } from './own-answer.tsx'

interface Sight {
  readonly text: string
  /** Its newest job is where it is seen. */
  readonly query: string
  /** Any of these has happened since the demo began. */
  readonly event: string
}

const SIGHTS: readonly Sight[] = [
  { text: 'A job went through', query: 'type:greet state:succeeded', event: 'succeeded' },
  { text: 'Watch one fail and come back', query: 'type:fetch.page failures:>0', event: 'retry_scheduled' },
  { text: 'A worker was just killed; see its job recover', query: 'type:crawl.site runs:>1', event: 'stalled' },
]

export function FirstMinute({ traffic }: { readonly traffic: TrafficAnswer | undefined }): ReactNode {
  const session = useSession()
  const [is] = useKept('first-minute', 'shown')
  return session.name !== DEMO || is === 'dismissed' ? null : <Strip traffic={traffic} />
}

function Strip({ traffic }: { readonly traffic: TrafficAnswer | undefined }): ReactNode {
  const [, keep] = useKept('first-minute', 'shown')
  const [answered] = useKept(ANSWERED, 'no')
  const happened = new Set(traffic?.changes.map(({ event }) => event as string))
  return (
    <section aria-label="First look" className="card relative flex flex-col gap-2 py-3 pr-12 pl-4">
      <ol className="flex flex-wrap gap-x-6 gap-y-1">
        {SIGHTS.map((sight) => (
          <Seen key={sight.text} sight={sight} isDone={happened.has(sight.event)} />
        ))}
        <ApproveOne isDone={answered === 'yes'} />
      </ol>
      <div className="flex flex-wrap items-start gap-x-6 gap-y-2 text-text-2">
        <details className="min-w-0">
          <summary className="flex cursor-pointer items-center">This is demo work. Run your own: six lines</summary>
          <pre
            className="mono mt-1 overflow-x-auto rounded-md bg-sunken p-3 leading-5"
            tabIndex={0}
            role="region"
            aria-label="Your own, in six lines"
          >
            {OWN}
          </pre>
        </details>
        <DemoSwitch />
      </div>
      <button
        type="button"
        aria-label="Do not show this again"
        className="icon-button absolute top-2 right-2"
        onClick={() => keep('dismissed')}
      >
        <Icon name="close" size={14} />
      </button>
    </section>
  )
}

/** `pawl serve --dashboard` beside it shows them: both open `.pawl/jobs.db`. */
const OWN = `import { defineJob, open } from 'pawl'

const hello = defineJob({ type: 'hello', run: () => 'hello, world' })
await using pawl = await open()
await using _worker = pawl.work([hello])
const job = await pawl.enqueue(hello)
console.log(await job.result())`

function Seen({ sight: { text, query }, isDone }: { readonly sight: Sight; readonly isDone: boolean }): ReactNode {
  const { data: job } = useNewestJob(query)
  const href = job === undefined ? `/jobs?q=${encodeURIComponent(query)}` : `/jobs/${encodeURIComponent(job.id)}`
  return <Line text={text} href={href} isDone={isDone} />
}

/** Ticked off by whoever looks, and not by a rule: it is theirs to try. */
function ApproveOne({ isDone }: { readonly isDone: boolean }): ReactNode {
  const { data: job } = useNewestJob('state:pending type:pay.out')
  const href = job === undefined ? '/approvals' : `/approvals?job=${encodeURIComponent(job.id)}`
  return <Line text="Approve one" href={href} isDone={isDone} />
}

interface LineProps {
  readonly text: string
  readonly href: string
  readonly isDone: boolean
}

function Line({ text, href, isDone }: LineProps): ReactNode {
  return (
    <li className="flex items-center gap-2" data-done={isDone}>
      <StateIcon state={isDone ? 'succeeded' : 'pending'} />
      <span className="sr-only">{isDone ? 'Done:' : 'To see:'}</span>
      <Link className={isDone ? 'text-text-2' : 'link'} href={href}>
        {text}
      </Link>
    </li>
  )
}
