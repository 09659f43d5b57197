import { atRest } from '../../../../../src/core/flow/key.ts'
import {
  claims,
  ends,
  limit,
  limited,
  lobbyOf,
  look,
  many,
  move,
  pause,
  viewOf,
} from '../../../../../src/store/conformance/flows.ts'
import type { Chapter } from '../program.ts'

const KEYS = {
  host: { concurrency: 1 },
  all: { budget: { amount: 10, perMs: 3_600_000 }, rate: { most: 5, perMs: 1_000 } },
}

export const flows: Chapter = async (fixture, recording) => {
  const { store, tenant } = fixture
  const { flowApply } = recording.statements
  const [first, , third] = await limited(fixture, KEYS, ...many(3))
  await fixture.insert({ flow: { fair: 'customer' }, queue: 'fair' })
  await recording.transaction(async (tx) => void (await store.insert([fixture.draft({ flow: { keys: KEYS } })], tx)))
  await look(fixture)

  // Nobody waits for what a claim makes room for: it is waited for here, so that what is said comes in one order.
  const before = applied()
  await fixture.claim({ limited: 1 })
  await recording.heard('the lane was looked at', () => applied() > before)
  await lobbyOf(fixture, first?.id ?? '')
  await lobbyOf(fixture, third?.id ?? '')
  await viewOf(fixture, 'host')
  await store.events({ by: 'keys', tenant, limit: 1 })

  const owned = await fixture.record(first?.id ?? '')
  const fence = owned.lease?.fence ?? ''
  const held = third === undefined ? [] : [third]
  await fixture.commit({ kind: 'mend', tenant, keys: ['host'], jobs: [owned], held, spent: [], claims: [] })
  const { gate, rev } = await viewOf(fixture, 'host')
  const released = fixture.change(owned, { type: 'release', fence, reason: 'shutdown' }, owned.updatedAt, {
    flow: { key: 'host', rev, next: { gate, text: 'after' } },
    spent: [{ amount: 3 }],
  })
  await recording.transaction(async (tx) => void (await store.commit([released], tx)), 'rollback')
  await fixture.commit(released)
  await limit(fixture, 'host', { concurrency: 2 }, { ...atRest('host'), state: 'broken', until: fixture.begin + 500 })
  await limit(fixture, 'host', { concurrency: 2 })
  await pause(fixture, true)
  await pause(fixture, false)
  await recording.advance(5_000)
  await look(fixture)
  const given = applied()
  const [again] = await claims(fixture, { limit: 1 })
  await recording.heard('the lane was looked at', () => applied() > given)
  await ends(fixture, again?.before.id ?? '')
  await move(fixture, { key: 'nobody', rev: 0, next: { gate, text: 'alone' } })
  await move(fixture, { key: 'nobody', rev: 1, next: 'forgotten' })

  function applied(): number {
    return recording.calls.filter(([, , text]) => text === flowApply).length
  }
}
