/** The blueprint of a ledger. */
import type { Blueprint } from '../schema/blueprint.ts'
import { ledgerFiles } from '../schema/files.ts'
import { ledgerStatementsIn } from './statements.ts'

export const LEDGER: Blueprint = {
  files: ledgerFiles,
  statements: ledgerStatementsIn,
  edition: 1,
  views: ['jobs', 'events'],
  readable: ['migration'],
  door: 'append',
}
