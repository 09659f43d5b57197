/** The rights, drawn anew after every change of the schema: `wall.sql`, told the names of everything that is pawl's. */
import { FOR_PEOPLE, functionNames, viewNames } from './functions.ts'
import { checkedRole, inSchema, literal } from './identifiers.ts'
import { relationNames, schemaFile } from './tables.ts'

/** `role`: who may use the schema besides its owner; the one it has, else one of its own. */
export function wallIn(schema: string, role: string | undefined): string {
  const { granted, inner } = functionNames()
  const names = { relations: [...relationNames(), ...viewNames()], granted, inner, views: FOR_PEOPLE }
  const text = Object.entries(names).reduce(
    (sql, [name, list]) => sql.replace(`{{${name}}}`, () => `array[${list.map(literal).join(', ')}]`),
    schemaFile('wall.sql'),
  )
  const asked = literal(role === undefined ? '' : checkedRole(role))
  return `set local pawl_migration.role = ${asked};\n${inSchema(text, schema)}`
}
