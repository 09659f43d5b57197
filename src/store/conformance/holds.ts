/** The suite's own assertions: they say what was promised, and where the answer differs. */
export class PromiseBroken extends Error {
  override readonly name = 'PromiseBroken'
}

export function holds(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new PromiseBroken(promise)
}

/** Equal down to the last leaf, code unit by code unit, -0 apart from 0. A missing key is an undefined one. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const difference = differ(actual, expected, '')
  if (difference !== undefined) throw new PromiseBroken(`${what}: ${difference}`)
}

export async function rejects(call: () => Promise<unknown>, what: string): Promise<void> {
  const answered = await call().then(
    () => true,
    () => false,
  )
  holds(!answered, what)
}

function differ(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined
  if (!isObject(actual) || !isObject(expected) || Array.isArray(actual) !== Array.isArray(expected)) {
    return `${path === '' ? 'it' : path} is ${shown(actual)}, not ${shown(expected)}`
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const difference = differ(own(actual, key), own(expected, key), `${path}/${key.slice(0, 40)}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** A label may be called `__proto__`. */
const own = (value: object, key: string): unknown => (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined)

function shown(value: unknown): string {
  if (Object.is(value, -0)) return '-0'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length})` : text
}
