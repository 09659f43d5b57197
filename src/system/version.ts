/** Which pawl this is. */
import { readFileSync } from 'node:fs'

/** Of the package this file belongs to, from source or from `dist/`. In a bundle it belongs to another, or to none. */
export function versionOfPawl(): string | undefined {
  try {
    const { name, version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      readonly name?: string
      readonly version?: string
    }
    return name === 'pawl' ? version : undefined
  } catch {
    return undefined
  }
}
