/**
 * The SQL of this adapter, by the place of each file in its folder (`claim/claim.sql`). The build puts the texts in here: what is
 * published reads nothing from beside itself, so it can be bundled into an application.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** Where the other schema is: what a ledger keeps is none of the store's. */
const LEDGER = 'ledger/'

/** The store's. */
export const sqlFiles = (): ReadonlyMap<string, string> =>
  new Map([...filesIn('../')].filter(([place]) => !place.startsWith(LEDGER)))

export const ledgerFiles = (): ReadonlyMap<string, string> => filesIn(`../${LEDGER}`)

function filesIn(folder: string): ReadonlyMap<string, string> {
  const home = new URL(folder, import.meta.url)
  const places = readdirSync(home, { recursive: true, encoding: 'utf8' }).map((place) => place.replaceAll('\\', '/'))
  const files = places.filter((place) => place.endsWith('.sql')).sort()
  return new Map(files.map((place) => [place, readFileSync(new URL(place, home), 'utf8')]))
}
