/** The blueprint of the store. */
import { statementsIn } from '../connection/statements.ts'
import type { Blueprint } from './blueprint.ts'
import { sqlFiles } from './files.ts'
import { EDITION } from './functions.ts'

export const STORE: Blueprint = {
  files: sqlFiles,
  statements: statementsIn,
  edition: EDITION,
  views: ['jobs', 'events'],
  readable: ['migration', 'seen', 'lead'],
  door: 'enqueue',
}
