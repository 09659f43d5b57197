/**
 * What jobs and events can be looked for by, as one text each, of which stores keep a hash. The tenant is in it: an index
 * of these has nothing of others between what is a tenant's own, so that no page is longer for their sake, and a word that
 * only others have said is as unknown as one that nobody has. Hashes may collide: every candidate is compared with the search itself (`matches.ts`).
 */
import type { Job, JobId } from '../../core/job.ts'

export interface Marked {
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly parentId?: JobId | undefined
  readonly workflowId?: string | undefined
  readonly dedupeKey?: string | undefined
}

/** The marks of a job, and of a search: equal texts for equal labels, parents, workflows and dedupe keys. */
export function marksOf(tenant: string, { labels, parentId, workflowId, dedupeKey }: Marked): readonly string[] {
  if (labels === undefined && parentId === undefined && workflowId === undefined && dedupeKey === undefined) return NONE
  const marks: string[] = []
  if (parentId !== undefined) marks.push(mark('p', tenant, parentId))
  if (workflowId !== undefined) marks.push(mark('w', tenant, workflowId))
  if (dedupeKey !== undefined) marks.push(mark('d', tenant, dedupeKey))
  for (const [name, value] of Object.entries(labels ?? {})) {
    marks.push(mark('l', tenant, `${name.length}:${name}${value}`))
  }
  return marks
}

const NONE: readonly string[] = []

/** The marks that a change gives a job: those of labels that it had not before. None is ever taken away: what is found by it is compared. */
export function marksAdded(before: Job, after: Job): readonly string[] {
  const { labels, kind } = after.spec
  if (labels === undefined || labels === before.spec.labels) return NONE
  const known = new Set(marksOf(kind.tenant, { labels: before.spec.labels }))
  return marksOf(kind.tenant, { labels }).filter((each) => !known.has(each))
}

export const correlationMark = (tenant: string, correlationId: string): string => mark('c', tenant, correlationId)

/** The mark of the code that a job's last error has. */
export const codeMark = (tenant: string, code: string): string => mark('e', tenant, code)

const mark = (what: string, tenant: string, text: string): string => `${what}${tenant.length}:${tenant}${text}`
