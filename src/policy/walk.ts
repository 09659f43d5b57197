/** A job on its way from topic to topic, as rules send it on: judged as what it is at each of them, until nobody sends it any further. */
import { type Described, JobFacts } from './facts.ts'
import { both, type Judgement } from './judgement.ts'

/** From topic to topic a job is sent so often, and no further. */
const REDIRECTS_MOST = 8

/** What rules and routes say about a job at one topic. */
export interface Stations {
  look(facts: JobFacts): Judgement
  /** Who may have it, of those it is let in to. */
  route(judgement: Judgement, facts: JobFacts): Judgement
}

export function walked(job: Described, stations: Stations): Judgement {
  let facts = new JobFacts(job)
  let judgement = stations.look(facts)
  // Sent elsewhere, it is judged as what it is there, too: nobody gets past the rules of a topic by way of another.
  for (const seen = [facts.topic]; ; ) {
    const sent = judgement.redirects[seen.length - 1]
    if (sent === undefined || judgement.decision === 'deny') break
    const amiss = circleIn(seen, sent.to)
    if (amiss !== undefined) return denied(judgement, sent.rule, amiss)
    seen.push(sent.to)
    facts = new JobFacts(job, sent.to)
    judgement = both(judgement, stations.look(facts))
  }
  return judgement.decision === 'deny' ? judgement : stations.route(judgement, facts)
}

/** Why it cannot be sent on; undefined where it can. */
function circleIn(seen: readonly string[], to: string): string | undefined {
  if (seen.includes(to)) return `It would be sent in a circle: ${[...seen, to].join(' → ')}.`
  return seen.length > REDIRECTS_MOST ? `It would be sent on more than ${REDIRECTS_MOST} times.` : undefined
}

export const denied = (judgement: Judgement, rule: string, reason: string): Judgement => ({
  ...judgement,
  decision: 'deny',
  rule,
  reason,
})
