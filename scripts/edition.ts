/**
 * Cuts the fixture of the edition that the code has (`EDITION`): its SQL, and the calls of a process of today with the answers
 * (test/store/postgres/editions). Run it whenever a function or a statement has changed. An edition that was released stays
 * as it is: raise `EDITION` first.
 */

import { EDITION } from '../src/store/postgres/schema/functions.ts'
import { schemaScript } from '../src/store/postgres/schema/migrate.ts'
import { changedSignatures, hasEdition, readEdition, writeEdition } from '../test/store/postgres/editions/edition.ts'
import { runProgram } from '../test/store/postgres/editions/program.ts'
import { Recording } from '../test/store/postgres/editions/recording.ts'
import { statementNames } from '../test/store/postgres/editions/statement-names.ts'
import { freshDatabase, stopOwnPostgres } from '../test/support/postgres.ts'

const schema = schemaScript('pawl')
if (hasEdition(EDITION)) {
  const changed = changedSignatures(readEdition(EDITION).schema, schema)
  if (changed.length > 0) {
    console.error(`edition ${EDITION} calls ${changed.join(', ')} otherwise: give what changed another name`)
    process.exit(1)
  }
}
const database = await freshDatabase()
const recording = await Recording.open(database.url)
await runProgram(recording)
const { statements, nameOf } = statementNames(recording.statements)
const calls = recording.calls.map(([at, session, text, ...rest]) => [at, session, nameOf(text), ...rest] as const)
await recording[Symbol.asyncDispose]()
await database.drop()
await stopOwnPostgres()
writeEdition({ number: EDITION, schema, statements, calls })
console.log(`edition ${EDITION}: ${calls.length} calls`)
