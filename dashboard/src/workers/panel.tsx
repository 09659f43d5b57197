/** One worker: who it is, and what it holds, since when. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Worker } from '../api/wire.ts'
import { FewJobs } from '../jobs/few.tsx'
import { quoted } from '../jobs/query.ts'
import { Card } from '../parts/card.tsx'
import { FactList } from '../parts/fact-list.tsx'
import { Icon } from '../parts/icon.tsx'
import { Moment } from '../parts/moment.tsx'
import { count } from '../words/format.ts'

export function WorkerPanel({ worker }: { readonly worker: Worker }): ReactNode {
  const { workerId, running = 0, concurrency = 0, queues = [], types, host, pid, version, seenAt, present } = worker
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Card
        title={<span className="mono">{workerId}</span>}
        note={present ? 'there' : 'gone'}
        right={
          <Link href="/workers" aria-label="Close" className="icon-button max-desk:hidden">
            <Icon name="close" />
          </Link>
        }
      >
        <div className="px-4 pb-4">
          <FactList
            facts={[
              ['Load', `${count(running)} of ${count(concurrency)} slots`],
              ['Seen', <Moment key="seen" at={seenAt} />],
              ['Host', host],
              ['Process', pid === undefined ? undefined : String(pid)],
              ['Version', version],
              ['Queues', queues.join(', ')],
              ['Types', types?.join(', ') ?? 'any'],
            ]}
          />
        </div>
      </Card>
      <FewJobs
        title="Holds"
        query={`state:claimed,running worker:${quoted(workerId)}`}
        none={present ? 'It holds no job.' : 'It holds no job any more: what it had was given to others.'}
      />
    </div>
  )
}
