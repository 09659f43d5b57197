/** What the names of the keys begin with that are a job's own, its digits behind: they leave the server together, and come back so. */
export const OWN_KEYS: readonly string[] = ['job:', 'born:', 'past:', 'asked:', 'body:', 'notes:', 'tied:']

/** The key that names the jobs that have left. */
export const EVICTED_KEY = 'evicted'

export const ownKeys = (digits: string): readonly string[] => OWN_KEYS.map((own) => `${own}${digits}`)

/** The digits of the job whose own this key is; undefined where it is nobody's. */
export function digitsIn(key: string): string | undefined {
  const own = OWN_KEYS.find((each) => key.startsWith(each))
  return own === undefined ? undefined : key.slice(own.length)
}
