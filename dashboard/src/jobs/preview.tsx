/** A job of the list, beside it: enough to know what is the matter and to do what is to be done. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ActionButtons } from '../actions/buttons.tsx'
import { useExplain, useJob } from '../api/job.ts'
import type { Job } from '../api/wire.ts'
import { useKeys } from '../frame/keys.ts'
import { Facts } from '../job/facts.tsx'
import { ErrorView } from '../job/tabs.tsx'
import { Why } from '../job/why.tsx'
import { Sheet, useIsNarrow } from '../parts/beside.tsx'
import { Body } from '../parts/body.tsx'
import { Card } from '../parts/card.tsx'
import { Copy } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { BoundTo, StatePill } from '../parts/state-word.tsx'
import { Loading, Trouble } from '../parts/trouble.tsx'

export interface PreviewProps {
  readonly id: string
  readonly onClose: () => void
}

export function Preview({ id, onClose }: PreviewProps): ReactNode {
  const { data: job, error } = useJob(id)
  // Its own to hear: it is there before the list is, which may take a while to find what it shows.
  useKeys({ ['Escape']: onClose })
  const isNarrow = useIsNarrow()
  const open = (
    <Link href={`/jobs/${encodeURIComponent(id)}`} className="btn">
      Open <kbd>Enter</kbd>
    </Link>
  )
  const shown = (
    <>
      {error === null ? null : <Trouble error={error} />}
      {job === undefined ? error === null ? <Loading /> : null : <Shown job={job} />}
    </>
  )
  return isNarrow ? (
    <Sheet label="Preview" onClose={onClose}>
      <div>{open}</div>
      {shown}
    </Sheet>
  ) : (
    <aside
      aria-label="Preview"
      className="flex w-[420px] flex-none flex-col gap-3 overflow-y-auto border-l border-line p-4 wide:w-[720px]"
    >
      <div className="flex items-center gap-2">
        {open}
        <button type="button" aria-label="Close the preview" className="icon-button ml-auto" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {shown}
    </aside>
  )
}

function Shown({ job }: { readonly job: Job }): ReactNode {
  const { data: why } = useExplain(job.id, job)
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-md font-semibold break-all">{job.type}</h2>
        <StatePill job={job} />
        <BoundTo job={job} />
        <span className="mono text-text-3">{job.id}</span>
        <Copy text={job.id} label="Copy the id" />
      </div>
      <ActionButtons job={job} />
      <Why job={job} why={why} />
      {job.lastFailure === undefined ? null : (
        <Card title="Last error">
          <div className="px-4 pb-4">
            <ErrorView job={job} failure={job.lastFailure} />
          </div>
        </Card>
      )}
      {job.input === undefined || job.masked === true ? null : (
        <Card title="Input">
          <div className="px-4 pb-4">
            <Body value={job.input} label="input" />
          </div>
        </Card>
      )}
      <Facts job={job} />
    </>
  )
}
