/** From the files of a policy to its snapshot, or to all that is wrong with them. */
import { z } from 'zod'
import { type Rule, ruleSchema } from './rule.ts'
import { Snapshot } from './snapshot.ts'
import { type Fault, read, type SourceFile } from './source.ts'

export const RULES_MOST = 20_000

const policySchema = z.strictObject({ rules: z.array(ruleSchema).max(RULES_MOST) })

export type Compiled = { readonly snapshot: Snapshot } | { readonly faults: readonly Fault[] }

/** Rules hold in the order of the files' names, then in the order in which they are written. */
export function compile(files: readonly SourceFile[]): Compiled {
  const rules: Rule[] = []
  const faults: Fault[] = []
  const places = new Map<string, string>()
  for (const file of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const found = read(file, policySchema)
    if ('faults' in found) {
      faults.push(...found.faults)
      continue
    }
    for (const [i, rule] of found.value.rules.entries()) {
      const path = ['rules', i, 'id']
      const at = found.placeOf(path)
      const first = places.get(rule.id)
      const fault = (field: string, why: string) =>
        faults.push({ file: file.name, ...at, field: `rules[${i}].${field}`, rule: why })
      if (first !== undefined) fault('id', `is the id of a rule already, at ${first}`)
      else places.set(rule.id, `${file.name}:${at.line}`)
      const waits = notYet(rule)
      if (waits !== undefined) fault(waits.field, waits.why)
      rules.push(rule)
    }
  }
  if (rules.length > RULES_MOST)
    faults.push({ file: '', line: 1, column: 1, field: undefined, rule: `more than ${RULES_MOST} rules` })
  return faults.length > 0 ? { faults } : { snapshot: new Snapshot(rules) }
}

/** What a rule may say and nothing can keep yet: refused where it is written, rather than not kept where it matters. */
function notYet(rule: Rule): { readonly field: string; readonly why: string } | undefined {
  if (rule.decision === 'redirect')
    return { field: 'decision', why: 'moves a job to another queue, and no store can move one yet' }
  if (rule.decision === 'throttle')
    return {
      field: 'decision',
      why: 'gives a job the limit of a key when it is let in, and so far only its type can, when it is enqueued (docs/flow.md)',
    }
  if (rule.decision !== 'constrain') return undefined
  if (rule.constrain.concurrency !== undefined)
    return {
      field: 'constrain.concurrency',
      why: 'is the limit of a key, which so far only a job’s type can give it, when it is enqueued (docs/flow.md)',
    }
  if (rule.constrain.labels !== undefined)
    return {
      field: 'constrain.labels',
      why: 'would not be found by whoever looks for that label, and is refused until it is',
    }
  return undefined
}
