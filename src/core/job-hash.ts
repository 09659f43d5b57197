/**
 * What an approval is bound to: everything that was asked for, at which priority, which chance of the job it is, and the input that a
 * duplicate has brought. It need not be cryptographic: it stands in the record of the job it is about, in which nothing is
 * replaced twice by the same revision. Members in the order of their names, since stores bring them back in orders of their own.
 */
import type { Newer } from './brought.ts'
import { digest } from './hash.ts'
import type { Job, Kind } from './job.ts'

export const jobHashOf = ({ id, spec, generation, priority, newer }: Job): string =>
  digest(written([id, generation, priority, spec, ...brought(newer)], spec.kind))

const brought = (newer: Newer | undefined): readonly unknown[] =>
  newer?.input === undefined ? [] : [newer.input, newer.rev]

/** Whether it is still the job that somebody was asked about. */
export const isAsAsked = (job: Job): boolean => job.approval?.jobHash === jobHashOf(job)

/** Jobs share their kinds, and most of what is written of a job is its kind's policy. */
const kinds = new WeakMap<Kind, string>()

/** As JSON has it. Where a kernel is asked a scheduler does this for each job: by way of a replacer it took half as long again. */
function written(value: unknown, kind: Kind): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map((member) => written(member, kind)).join()}]`
  let text = ''
  const members = value as Readonly<Record<string, unknown>>
  for (const name of Object.keys(value).sort()) {
    const member = members[name]
    if (member === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${member === kind ? kindText(kind) : written(member, kind)}`
  }
  return `{${text}}`
}

function kindText(kind: Kind): string {
  const known = kinds.get(kind)
  if (known !== undefined) return known
  const text = written({ ...kind }, kind)
  kinds.set(kind, text)
  return text
}
