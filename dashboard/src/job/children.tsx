/** The jobs that a job has spawned, and theirs: a branch is read when somebody opens it. */
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { useChildren } from '../api/queries.ts'
import type { Job } from '../api/wire.ts'
import { Icon } from '../parts/icon.tsx'
import { Moment } from '../parts/moment.tsx'
import { Phrase } from '../parts/phrase.tsx'
import { JobState } from '../parts/state-word.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'

/** Branches of one tree that are open at a time are as deep as this at most: what comes below has a page of its own. */
const DEEP = 8

export function Children({ id }: { readonly id: string }): ReactNode {
  return (
    <ul aria-label="Children" className="py-1">
      <Branch id={id} depth={0} isFirst />
    </ul>
  )
}

interface BranchProps {
  readonly id: string
  readonly depth: number
  readonly isFirst?: boolean
}

function Branch({ id, depth, isFirst = false }: BranchProps): ReactNode {
  const { data, error } = useChildren(id, true)
  if (data === undefined)
    return <li aria-busy={error === null}>{error === null ? <Loading rows={2} /> : <Trouble error={error} />}</li>
  const { jobs, isCut } = data
  if (jobs.length === 0)
    return isFirst ? (
      <li>
        <Empty title="It has spawned no other job" />
      </li>
    ) : (
      <li className="py-1 text-sm text-text-3" style={{ paddingLeft: indent(depth) + 24 }}>
        It has spawned none.
      </li>
    )
  return (
    <>
      {jobs.map((job) => (
        <Leaf key={job.id} job={job} depth={depth} />
      ))}
      {isCut ? (
        <li className="py-1 text-sm" style={{ paddingLeft: indent(depth) + 24 }}>
          <Link className="link" href={`/jobs?q=${encodeURIComponent(`parent:${id}`)}`}>
            All of them, as a list
          </Link>
        </li>
      ) : null}
    </>
  )
}

const indent = (depth: number): number => 12 + 20 * depth

function Leaf({ job, depth }: { readonly job: Job; readonly depth: number }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <div
        className="flex min-h-9 items-center gap-3 border-t border-line pr-4 hover:bg-hover"
        style={{ paddingLeft: indent(depth) }}
      >
        {depth < DEEP ? (
          <button
            type="button"
            aria-expanded={isOpen}
            aria-label={`What ${job.id} has spawned`}
            className="flex size-6 flex-none items-center justify-center rounded-md hover:bg-sunken"
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name={isOpen ? 'down' : 'right'} size={14} />
          </button>
        ) : null}
        <JobState job={job} />
        <span className="min-w-0 truncate">
          <Link className="font-medium hover:underline" href={`/jobs/${encodeURIComponent(job.id)}`}>
            {job.type}
          </Link>{' '}
          <span className="mono text-text-3">{job.id}</span>
        </span>
        <span className="ml-auto hidden min-w-0 truncate text-text-2 phone:inline">
          <Phrase now={job.now} />
        </span>
        <span className="w-14 flex-none text-right text-sm text-text-3">
          <Moment at={job.updatedAt} as="ago" />
        </span>
      </div>
      {isOpen ? (
        <ul aria-label={`Children of ${job.id}`}>
          <Branch id={job.id} depth={depth + 1} />
        </ul>
      ) : null}
    </li>
  )
}
