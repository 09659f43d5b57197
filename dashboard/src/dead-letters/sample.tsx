/** The newest of those that share a cause: its message, and the stack where its worker has sent one. */
import type { ReactNode } from 'react'
import { useJob } from '../api/job.ts'
import type { CauseAnswer } from '../api/wire.ts'
import { ErrorView } from '../job/tabs.tsx'

export function Sample({ sample: { id, message } }: { readonly sample: CauseAnswer['samples'][number] }): ReactNode {
  const { data: job } = useJob(id, true)
  const failure = job?.lastFailure
  return (
    <div className="mx-4 mb-3 flex flex-col gap-2">
      <p className="mono rounded-md bg-sunken p-2 break-words">{message}</p>
      {job === undefined || failure?.body === undefined ? null : (
        <details>
          <summary className="cursor-pointer text-sm text-text-2">The stack of the newest</summary>
          <ErrorView job={job} failure={failure} />
        </details>
      )}
    </div>
  )
}
