/** The rights, drawn anew after every change of the schema: `wall.sql`, told the names of everything that is pawl's. */
import type { Blueprint } from './blueprint.ts'
import { functionNames, viewNames } from './functions.ts'
import { checkedRole, inSchema, literal } from './identifiers.ts'
import { relationNames, schemaFile } from './tables.ts'

/** `role`: who may use the schema besides its owner; the one it has, else one of its own. */
export function wallIn(blueprint: Blueprint, schema: string, role: string | undefined): string {
  const { views, readable, door } = blueprint
  const relations = [...relationNames(blueprint), ...viewNames(blueprint)]
  const names = { relations, ...functionNames(blueprint), views, readable }
  const text = Object.entries(names).reduce(
    (sql, [name, list]) => sql.replace(`{{${name}}}`, () => arrayOf(list)),
    schemaFile('wall.sql').replace('{{door}}', () => literal(door)),
  )
  const asked = literal(role === undefined ? '' : checkedRole(role))
  return `set local pawl_migration.role = ${asked};\n${inSchema(text, schema)}`
}

/** The type of an empty one cannot be told from what is in it. */
const arrayOf = (list: readonly string[]): string =>
  list.length === 0 ? 'array[]::text[]' : `array[${list.map(literal).join(', ')}]`
