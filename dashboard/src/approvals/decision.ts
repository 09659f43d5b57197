/** An event of admission as what it decided: in a word, by which rule, why, and whose word it was. */
import type { Approval, JobEvent, State } from '../api/wire.ts'
import { span } from '../words/format.ts'

export interface Decision {
  readonly id: string
  readonly jobId: string
  readonly at: string
  readonly word: string
  /** Whose icon stands before the word. */
  readonly icon: State
  readonly rule: string
  readonly why: string
  readonly by: string
}

const WORDS: Readonly<Record<string, readonly [word: string, icon: State]>> = {
  admitted: ['let in', 'queued'],
  denied: ['denied', 'denied'],
  approval_asked: ['asks', 'pending'],
  approved: ['approved', 'succeeded'],
}

/** What their payloads carry. */
interface Told {
  readonly verdict?: { readonly rule: string; readonly reason?: string }
  readonly approval?: Approval
  readonly terms?: { readonly attemptMs?: number; readonly maxAttempts?: number }
  readonly recast?: Recast
  readonly reason?: string
}

interface Recast {
  readonly redirect?: { readonly from: string; readonly to: string; readonly rule: string }
  readonly labels?: Readonly<Record<string, string>>
  readonly throttles?: readonly { readonly key: string }[]
}

export function decisionIn({ id, jobId, at, type, actor, payload }: JobEvent): Decision {
  const told: Told = payload
  const [word, icon] = WORDS[type] ?? [type, 'pending']
  const why = told.verdict?.reason ?? told.approval?.reason ?? told.reason
  const parts = [
    why,
    termsText(told.terms),
    ...recastTexts(told.recast),
    told.approval?.notBy === undefined ? undefined : 'four eyes',
  ]
  return {
    id,
    jobId,
    at,
    word,
    icon,
    rule: told.verdict?.rule ?? told.approval?.rule ?? '',
    why: parts.filter((part) => part !== undefined && part !== '').join(' · '),
    by: actor,
  }
}

function termsText(terms: Told['terms']): string | undefined {
  if (terms === undefined) return undefined
  const { attemptMs, maxAttempts } = terms
  const bounds = [
    attemptMs === undefined ? [] : [`${span(attemptMs)} a run`],
    maxAttempts === undefined ? [] : [`${maxAttempts} failures`],
  ].flat()
  return bounds.length === 0 ? undefined : `at most ${bounds.join(' and ')}`
}

/** What was made of it besides. */
function recastTexts({ redirect, labels, throttles = [] }: Recast = {}): readonly string[] {
  const labelled = Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`)
  return [
    ...(redirect === undefined ? [] : [`sent from ${redirect.from} to ${redirect.to} by ${redirect.rule}`]),
    ...throttles.map(({ key }) => `under key ${key}`),
    ...(labelled.length === 0 ? [] : [`labelled ${labelled.join(', ')}`]),
  ]
}

/** Any of its words. */
export const isAbout = ({ jobId, word, rule, why, by }: Decision, wanted: string): boolean =>
  [jobId, word, rule, why, by].some((text) => text.toLowerCase().includes(wanted.toLowerCase()))
