/** What is told of what a document refuses is what the engine refuses. */
import { describe, expect, it } from 'vitest'
import { decide } from '../../src/core/decide.ts'
import { reachOf } from '../../src/core/dialects/reach.ts'
import { refusedCells } from '../../src/core/dialects/refused-cells.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import { STATES } from '../../src/core/job.ts'
import { DIALECT_NAMES, type DialectName } from '../../src/core/policy.ts'
import { MACHINE } from '../../src/core/transitions.ts'
import { kindOf } from '../core/given.ts'
import { HISTORIES, WORDS } from '../core/sample.ts'

/** What somebody may say about a job, whoever owns it. */
const SAID = ['admit', 'deny', 'approve', 'cancel', 'signal', 'reschedule', 'reopen', 'deadLetter'] as const

function toldOf(dialect: DialectName, command: (typeof SAID)[number], state: (typeof STATES)[number]) {
  const job = HISTORIES[state]()
  const { record } = job
  job.job = { ...record, spec: { ...record.spec, kind: kindOf({ dialect }) } }
  const cells = refusedCells(DIALECTS[dialect])[command]
  const told = typeof cells === 'string' ? cells : cells?.[state]?.[reachOf(job.record)]
  const words = { ...WORDS[command], expectedRev: job.record.rev }
  const decision = decide(job.record, job.command(words), job.now)
  const refused = decision.kind === 'refused' && decision.refusal.code === 'DIALECT_FORBIDS'
  return { told, refused: refused ? decision.refusal.message : undefined }
}

describe.each(DIALECT_NAMES)('what document %s is told to refuse', (dialect) => {
  it.each(SAID)('is what is refused of %s, with the same reason, from every state', (command) => {
    // Where the machine itself has no such move, that is what is said.
    for (const state of STATES.filter((each) => MACHINE[command][each] !== undefined)) {
      const { told, refused } = toldOf(dialect, command, state)
      if (told === undefined) expect(refused, state).toBeUndefined()
      else expect(refused, state).toContain(told)
    }
  })
})

it('is one reason for all states where a document does not know a command at all', () => {
  expect(refusedCells(DIALECTS['001']).reopen).toBe('it knows no reopen. Its endings are final: enqueue a new job.')
  expect(refusedCells(DIALECTS['003'])).not.toHaveProperty('heartbeat')
  expect(refusedCells(DIALECTS['001'])).not.toHaveProperty('enqueue')
})
