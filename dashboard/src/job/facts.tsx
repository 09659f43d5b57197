import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Job } from '../api/wire.ts'
import { Card } from '../parts/card.tsx'
import { FactList, type NamedFact } from '../parts/fact-list.tsx'
import { Moment } from '../parts/moment.tsx'
import { span } from '../words/format.ts'

const PRIORITY: Readonly<Partial<Record<number, string>>> = { 1: 'critical', 3: 'interactive', 5: 'normal', 7: 'batch' }

/** What was asked for and what has come of it, as far as it is said in a line. */
export function Facts({ job }: { readonly job: Job }): ReactNode {
  const { policy, progress } = job
  const facts: readonly NamedFact[] = [
    ['Queue', `${job.queue}, ${PRIORITY[job.priority] ?? `priority ${job.priority}`}`],
    ['Producer’s id', job.alias],
    ['Dedupe key', job.dedupeKey],
    ['Limit keys', (job.flow?.keys.length ?? 0) > 0 && <LimitKeys keys={job.flow?.keys ?? []} />],
    ['Runs', String(job.attempt)],
    ['Failures', policy === undefined ? String(job.failures) : `${job.failures} of ${policy.maxAttempts}`],
    ['Lost leases', policy === undefined ? String(job.stalls) : `${job.stalls} of ${policy.maxStalls}`],
    [
      'Progress',
      progress &&
        `${progress.done}${progress.total === undefined ? '' : ` of ${progress.total}`}${progress.message === undefined ? '' : `, ${progress.message}`}`,
    ],
    ['Worked', job.executionMs > 0 ? span(job.executionMs) : undefined],
    ['Time limit', policy && `${span(policy.attemptMs)} a run`],
    ['Deadline', job.deadlineAt && <Moment at={job.deadlineAt} />],
    [
      'Retry',
      policy &&
        `${span(policy.retry.baseMs)} × ${policy.retry.factor}, to ${span(policy.retry.maxMs)}, ${policy.retry.jitter === 'none' ? 'no' : policy.retry.jitter} jitter`,
    ],
    ['When spent', policy?.onExhausted],
    ['Enqueued', <Moment key="enqueued" at={job.createdAt} />],
    ['Correlation', <Related key="correlation" field="correlation" value={job.correlationId} />],
    ['Workflow', job.workflowId && <Related field="workflow" value={job.workflowId} />],
    [
      'Parent',
      job.parentId && (
        <Link className="link mono" href={`/jobs/${encodeURIComponent(job.parentId)}`}>
          {job.parentId}
        </Link>
      ),
    ],
    ['Generation', job.generation > 0 ? String(job.generation) : undefined],
    ['Bound to', job.dialect && `document ${job.dialect}`],
    ...Object.entries(job.labels ?? {}).map(([name, value]) => [`label ${name}`, value] as const),
    ...Object.entries(job.counters).map(([name, value]) => [`counter ${name}`, String(value)] as const),
  ]
  return (
    <Card>
      <div className="p-4">
        <FactList facts={facts} />
      </div>
    </Card>
  )
}

function LimitKeys({ keys }: { readonly keys: readonly string[] }): ReactNode {
  return keys.map((key) => (
    <Link key={key} className="link mono mr-2 break-all" href={`/limits/${encodeURIComponent(key)}`}>
      {key}
    </Link>
  ))
}

function Related({ field, value }: { readonly field: string; readonly value: string }): ReactNode {
  return (
    <Link className="link mono break-all" href={`/jobs?q=${encodeURIComponent(`${field}:${value}`)}`}>
      {value}
    </Link>
  )
}
