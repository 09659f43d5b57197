/** The first few jobs of a query, as part of something else: each with its phrase, and since when it is so. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useFewJobs } from '../api/queries.ts'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { Phrase } from '../parts/phrase.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { Loading, Trouble } from '../parts/trouble.tsx'
import { useWords } from '../words/vocabulary.tsx'

export interface FewJobsProps {
  readonly title: string
  readonly query: string
  readonly none: string
}

export function FewJobs({ title, query, none }: FewJobsProps): ReactNode {
  const { data, error } = useFewJobs(query)
  const words = useWords()
  return (
    <Card
      title={title}
      right={
        <Link className="link" href={`/jobs?q=${encodeURIComponent(query)}`}>
          As a list
        </Link>
      }
    >
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? <Loading rows={3} /> : null}
      {data?.length === 0 ? <p className="px-4 pb-4 text-text-2">{none}</p> : null}
      <ul>
        {(data ?? []).map((job) => (
          <li key={job.id} className="border-t border-line px-4 py-2">
            <div className="flex items-center gap-2">
              <StateIcon state={job.state} />
              <span className="sr-only">{words.ofJob(job)}</span>
              <Link
                className="min-w-0 truncate font-medium hover:underline"
                href={`/jobs/${encodeURIComponent(job.id)}`}
              >
                {job.type}
              </Link>
              <span className="mono text-text-3">{job.id}</span>
              <span className="ml-auto whitespace-nowrap text-sm text-text-2">
                since <Moment at={job.startedAt ?? job.updatedAt} as="ago" />
              </span>
            </div>
            <p className="truncate pl-6 text-sm text-text-2">
              <Phrase now={job.now} />
            </p>
          </li>
        ))}
      </ul>
    </Card>
  )
}
