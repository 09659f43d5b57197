/**
 * The rules of the demo, in a file beside its jobs: who changes it there sees what becomes of the next payment. Only where the store is
 * the demo's own: a policy judges all that waits in a store, and would turn away whatever else is in somebody's.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A word of four eyes is asked of whoever is signed in by the link of the demo: this is who enqueued it. */
export const YOURSELF = 'admin:demo'

const RULES = `# Who is let in, in the demo. Change something and save: it holds within a second.
rules:
  - id: payments
    topics: [pay.out, send.campaign]
    decision: allow

  - id: large-payment
    topics: [pay.out]
    when: 'has(job.labels.size) && job.labels.size == "large"'
    decision: require_approval
    expires: 4h
    reason: Somebody looks at more than 1,000 €.

  - id: huge-payment
    topics: [pay.out]
    when: 'has(job.labels.size) && job.labels.size == "huge"'
    decision: deny
    reason: More than 1,800 € need a contract.

  - id: four-eyes-on-mail
    topics: [send.campaign]
    decision: require_approval
    expires: 8h
    fourEyes: true
    reason: Another pair of eyes before so many get mail.
`

const folderBeside = (store: string): string => join(dirname(store), 'demo-policy')

/** What somebody has changed stays as it is. */
export function policyBeside(store: string): string {
  const folder = folderBeside(store)
  const file = join(folder, 'rules.yaml')
  if (existsSync(file)) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, RULES)
  return folder
}

export const removePolicyBeside = (store: string): void => rmSync(folderBeside(store), { recursive: true, force: true })
