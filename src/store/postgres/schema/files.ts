/**
 * The SQL of this adapter, by the place of each file in it (`claim/claim.sql`). The build puts the texts in here: what is
 * published reads nothing from beside itself, so it can be bundled into an application.
 */
import { readdirSync, readFileSync } from 'node:fs'

export function sqlFiles(): ReadonlyMap<string, string> {
  const adapter = new URL('../', import.meta.url)
  const places = readdirSync(adapter, { recursive: true, encoding: 'utf8' }).map((place) => place.replaceAll('\\', '/'))
  const files = places.filter((place) => place.endsWith('.sql')).sort()
  return new Map(files.map((place) => [place, readFileSync(new URL(place, adapter), 'utf8')]))
}
