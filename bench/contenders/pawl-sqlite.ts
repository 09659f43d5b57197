/** pawl on its embedded store: a file, no server. */
import type { Contender } from '../contender.ts'
import { pawl } from './pawl.ts'

export const pawlSqlite: Contender = { ...pawl, name: 'pawl-sqlite', store: 'sqlite' }
