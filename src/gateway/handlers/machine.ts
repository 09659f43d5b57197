/**
 * `GET /machine`: the tables the engine enforces, of jobs and of limit keys, as data; or a document's own, by `?dialect=`, with what
 * it forbids those bound to it.
 */
import type { z } from 'zod'
import { refusedCells } from '../../core/dialects/refused-cells.ts'
import { READINGS } from '../../core/dialects/registry.ts'
import { KEY_MACHINE } from '../../core/flow/transitions.ts'
import { RANK, STATES, TERMINAL_STATES } from '../../core/job.ts'
import { MACHINE } from '../../core/transitions.ts'
import { type Handler, json } from '../call.ts'
import type { dialectOnly } from '../contract/queries.ts'
import { nameOf } from './jobs.ts'

const TABLES = {
  version: 1,
  states: STATES,
  terminal: TERMINAL_STATES,
  rank: RANK,
  commands: MACHINE,
  keys: KEY_MACHINE,
}

export const showMachine: Handler = async (call) => {
  const { dialect } = call.query as z.output<typeof dialectOnly>
  if (dialect === undefined) return json(200, TABLES)
  const reading = READINGS[nameOf(dialect)]
  return json(200, { version: 1, dialect: reading, forbids: refusedCells(reading) })
}
