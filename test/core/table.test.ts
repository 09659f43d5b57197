import { describe, expect, it } from 'vitest'
import { TRANSITION_TYPES } from '../../src/core/event.ts'
import { isTerminal, RANK, STATES, type State } from '../../src/core/job.ts'
import { edges, LEADS_TO, MACHINE, movesFrom, statesBefore, walk } from '../../src/core/transitions.ts'
import { COMMANDS, OWNER_COMMANDS } from '../../src/core/verb.ts'
import { given, T0 } from './given.ts'
import { HISTORIES, WORDS } from './sample.ts'

/** Cells whose sample command meets a guard of its own rather than the table. */
const GUARDED: Readonly<Record<string, string>> = {
  'complete running': 'accepted',
  'compensated running': 'WRONG_PHASE',
  'deny queued': 'accepted',
  'stall claimed': 'NOT_DUE',
  'stall running': 'NOT_DUE',
  'expire pending': 'NOT_DUE',
  'expire queued': 'NOT_DUE',
  'expire claimed': 'NOT_DUE',
  'expire running': 'NOT_DUE',
  'expire waiting': 'NOT_DUE',
  'expire parked': 'NOT_DUE',
  'expire stalled': 'NOT_DUE',
  'expire retrying': 'NOT_DUE',
  'claim retrying': 'NOT_READY',
  'approve pending': 'NOT_APPROVABLE',
  'strip failed': 'ILLEGAL_TRANSITION',
  'strip cancelled': 'ILLEGAL_TRANSITION',
  'strip timed_out': 'ILLEGAL_TRANSITION',
}

const owner: readonly string[] = OWNER_COMMANDS

describe('every state × every command', () => {
  for (const state of STATES) {
    for (const command of COMMANDS) {
      if (command === 'enqueue') continue
      it(`${command} when ${state}`, () => {
        const history = HISTORIES[state]()
        expect(history.state).toBe(state)
        const before = structuredClone(history.record)
        const outcome = history.when(WORDS[command])
        const has = movesFrom(command, state) !== undefined
        const guard = GUARDED[`${command} ${state}`]
        const owned = state === 'claimed' || state === 'running'
        if (has && (guard === undefined || guard === 'accepted')) outcome.accepted()
        else if (has) outcome.refused(guard as never)
        else if (owner.includes(command) && !owned) outcome.refused('STALE_FENCE')
        else if (command === 'cancel' && state === 'cancelled') outcome.replayed()
        else if (command === 'deny' && state === 'denied') outcome.replayed()
        else if (command === 'start' && state === 'running') outcome.replayed()
        else outcome.refused(isTerminal(state) ? 'ENDED' : 'ILLEGAL_TRANSITION')
        if (outcome.decision.kind !== 'accepted') expect(history.record).toEqual(before)
      })
    }
  }
})

describe('the table itself', () => {
  it('has a row for every command and no other', () => {
    expect(Object.keys(MACHINE).sort()).toEqual([...COMMANDS].sort())
  })

  it('leads to the state it says, by the events it names', () => {
    for (const row of Object.values(MACHINE)) {
      for (const [from, moves] of Object.entries(row)) {
        for (const move of moves ?? []) {
          const last = walk(from as State | 'none', move).at(-1)
          expect(last?.to ?? from).toBe(move.to)
          for (const edge of walk(from as State | 'none', move)) expect(LEADS_TO[edge.event]).toContain(edge.to)
        }
      }
    }
  })

  it('goes forward only: within an attempt no edge lowers the rank, but for claims and reopenings', () => {
    for (const { event, from, to } of edges()) {
      if (from === 'none' || event === 'claimed' || event === 'reopened') continue
      expect(RANK[to], `${event} ${from} → ${to}`).toBeGreaterThan(RANK[from])
    }
  })

  it('uses every transition event', () => {
    expect(new Set(edges().map(({ event }) => event))).toEqual(new Set(TRANSITION_TYPES))
  })

  it('says which states a command may be said in', () => {
    expect(statesBefore('reopen')).toEqual(['failed', 'cancelled', 'timed_out', 'dead_lettered'])
    for (const command of COMMANDS) {
      for (const state of STATES) {
        expect(statesBefore(command).includes(state)).toBe(movesFrom(command, state) !== undefined)
      }
    }
  })

  it('leaves a terminal state by reopening only', () => {
    for (const { event, from } of edges()) if (from !== 'none' && isTerminal(from)) expect(event).toBe('reopened')
  })

  it('refuses everything for a job that does not exist', () => {
    for (const command of COMMANDS) {
      if (command === 'enqueue') continue
      const nobody = given()
      nobody.job = undefined
      nobody.when({ ...WORDS[command], fence: '0.1.0123456789abcdef' }).refused('NOT_FOUND')
    }
  })

  it('never goes back in time within a job', () => {
    const history = given().claims()
    history.now = T0 - 5_000
    history.does({ type: 'start', fence: 'mine' })
    expect(history.events.at(-1)?.at).toBe(T0)
  })
})
