/** As much as anybody wants to read in one line of a log. */
const LENGTH_MAX = 1_000

/**
 * What can be said in a line about something that was thrown. It may be anything: this never throws in its turn, and makes
 * no text of an object, which would run what is the object's own: a list of a thousand million holes takes minutes.
 */
export function reasonOf(thrown: unknown): string {
  try {
    const said = typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown
    // One that is rejected while nobody listens would end the process.
    if (said instanceof Promise) said.catch(() => {})
    return isObject(said) ? `something that is no error (${typeof said})` : String(said).slice(0, LENGTH_MAX)
  } catch {
    return `something that cannot be read (${typeof thrown})`
  }
}

const isObject = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'
