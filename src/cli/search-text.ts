/** Options that narrow a list, as the search that an operation is asked for with. */
import { labelsOf, listOf } from './choice.ts'
import { Usage } from './exit.ts'

export interface Narrowing {
  readonly query?: string | undefined
  readonly state?: string | undefined
  readonly queue?: string | undefined
  readonly type?: string | undefined
  readonly label?: readonly string[] | undefined
  readonly code?: string | undefined
  readonly reason?: string | undefined
  readonly cause?: string | undefined
  readonly correlationId?: string | undefined
  readonly parentId?: string | undefined
}

export function searchText(options: Narrowing): string {
  const { query, state, queue, type, label, code, reason, cause, correlationId, parentId } = options
  const labels = Object.entries(labelsOf(label) ?? {}).map(([name, value]) => term(`label.${name}`, value))
  return [
    many('state', state),
    many('queue', queue),
    many('type', type),
    many('reason', reason),
    one('code', code),
    one('cause', cause),
    one('correlation', correlationId),
    one('parent', parentId),
    ...labels,
    query,
  ]
    .filter((each) => each !== undefined && each !== '')
    .join(' ')
}

const one = (field: string, value: string | undefined): string | undefined =>
  value === undefined ? undefined : term(field, value)

const term = (field: string, value: string): string =>
  `${field}:${/^[^\s"]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, '\\$&')}"`}`

/** Whether the grammar has words for it. */
export const searchable = ({ state, queue, type, reason }: Narrowing): boolean =>
  [state, queue, type, reason].every((text) => isListable(listOf(text) ?? []))

/** In the grammar a quoted name stands alone. */
const isListable = (names: readonly string[]): boolean => names.length <= 1 || !names.some((name) => /[\s"]/.test(name))

function many(field: string, text: string | undefined): string | undefined {
  const names = listOf(text)
  if (names === undefined) return undefined
  if (!isListable(names))
    throw new Usage(`Of several ${field}s none can have a space in its name.`, 'Ask for one after the other.')
  return names.length === 1 ? term(field, names[0] ?? '') : `${field}:${names.join(',')}`
}
