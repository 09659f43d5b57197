/**
 * The Lua of this adapter, by the place of each file in it (`claim/claim.lua`). The build puts the texts in here: what is
 * published reads nothing from beside itself, so it can be bundled into an application.
 */
import { readdirSync, readFileSync } from 'node:fs'

export function luaFiles(): ReadonlyMap<string, string> {
  const adapter = new URL('../', import.meta.url)
  const places = readdirSync(adapter, { recursive: true, encoding: 'utf8' }).map((place) => place.replaceAll('\\', '/'))
  const files = places.filter((place) => place.endsWith('.lua')).sort()
  return new Map(files.map((place) => [place, readFileSync(new URL(place, adapter), 'utf8')]))
}
