/** Where two pieces of data differ: `path: left ≠ right`, every place. Absent and undefined are the same. */
export function differences(left: unknown, right: unknown, path = ''): readonly string[] {
  if (Object.is(left, right)) return []
  if (!isObject(left) || !isObject(right) || Array.isArray(left) !== Array.isArray(right)) {
    return [`${path === '' ? 'value' : path}: ${show(left)} ≠ ${show(right)}`]
  }
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].flatMap((key) => differences(left[key], right[key], path === '' ? key : `${path}.${key}`))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const SHOWN = 200

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
