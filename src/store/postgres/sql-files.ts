/**
 * The files of the schema, by name. The build puts their text in here: what is published reads nothing from beside itself,
 * so it can be bundled into an application.
 */
import { readdirSync, readFileSync } from 'node:fs'

export function sqlFiles(): ReadonlyMap<string, string> {
  const folder = new URL('./sql/', import.meta.url)
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]))
}
