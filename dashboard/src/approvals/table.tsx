/** What waits to be let in: those a person is asked about first, the soonest to expire on top. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { isAskedAbout } from '../actions/actions.ts'
import type { Job } from '../api/wire.ts'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { Phrase } from '../parts/phrase.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { useMedia } from '../words/media.ts'

/** Who must decide soonest, then who has waited longest for a policy. */
export const byNeed = (a: Job, b: Job): number => urgency(a) - urgency(b) || (a.createdAt < b.createdAt ? -1 : 1)

const urgency = (job: Job): number =>
  job.approval !== undefined && isAskedAbout(job) ? Date.parse(job.approval.expiresAt) : Number.MAX_SAFE_INTEGER

export interface PendingTableProps {
  readonly jobs: readonly Job[]
  readonly chosen: string | undefined
  readonly note: ReactNode
}

export function PendingTable({ jobs, chosen, note }: PendingTableProps): ReactNode {
  return (
    <Card>
      <table className="rows">
        <thead>
          <tr>
            <th>Job</th>
            <th className="hidden phone:table-cell">Why it waits</th>
            <th className="num hidden phone:table-cell">Waits</th>
            <th className="num">Expires</th>
          </tr>
        </thead>
        <VirtualRows items={jobs} keyOf={({ id }) => id} rowPx={56}>
          {(job) => <Row job={job} isChosen={job.id === chosen} />}
        </VirtualRows>
      </table>
      {note === null ? null : (
        <p className="flex items-center gap-2 border-t border-line px-4 py-2 text-sm text-text-3">{note}</p>
      )}
    </Card>
  )
}

function Row({ job, isChosen }: { readonly job: Job; readonly isChosen: boolean }): ReactNode {
  const { id, type, state, approval, createdAt } = job
  // Below the job, where it has no column.
  const isPhone = useMedia('(max-width: 719px)')
  const why =
    approval === undefined || approval.given !== undefined ? (
      <Phrase now={job.now} />
    ) : (
      <span title={approval.reason}>
        <span className="mono text-text">{approval.rule}</span>
        {approval.reason === undefined ? '' : `: ${approval.reason}`}
      </span>
    )
  return (
    <tr
      data-job={id}
      className={isChosen ? 'bg-hover shadow-[inset_2px_0_var(--focus)]' : 'hover:bg-hover'}
      aria-selected={isChosen}
    >
      <td className="w-full max-w-0 py-2 phone:w-auto phone:max-w-none">
        <Link href={`/approvals?job=${encodeURIComponent(id)}`} className="flex items-start gap-2">
          <span className="pt-0.5">
            <StateIcon state={state} />
          </span>
          <span className="min-w-0">
            <span className="block max-w-48 truncate font-medium">{type}</span>
            <span className="mono block text-text-3">{id}</span>
            {isPhone ? <span className="block text-sm text-text-2">{why}</span> : null}
          </span>
        </Link>
      </td>
      {isPhone ? null : <td className="w-full max-w-0 truncate text-text-2">{why}</td>}
      <td className="num hidden whitespace-nowrap text-text-2 phone:table-cell">
        <Moment at={createdAt} as="ago" />
      </td>
      <td className="num whitespace-nowrap text-text-2">
        {approval === undefined ? '' : approval.given === undefined ? <Moment at={approval.expiresAt} /> : 'approved'}
      </td>
    </tr>
  )
}
