/** Stores that limit wrongly, the way stores do: the memory store with one part of its hall broken. */
import type { Gate } from '../../../src/core/flow/gate.ts'
import { KeyShelf } from '../../../src/store/memory/flow-key.ts'
import { MemoryHall } from '../../../src/store/memory/hall.ts'
import { Lanes } from '../../../src/store/memory/lanes.ts'
import { Rings } from '../../../src/store/memory/rings.ts'
import type { Change, Store } from '../../../src/store/store.ts'
import type { Sabotage } from './sabotage.ts'

/** Breaks something until it is disposed of. */
export type Breaking = () => Disposable

/** Another method in the place of one. */
function instead<T extends object, K extends keyof T>(of: T, name: K, make: (was: T[K]) => T[K]): Disposable {
  const was = of[name]
  of[name] = make(was)
  return {
    [Symbol.dispose]: () => {
      of[name] = was
    },
  }
}

const hall = MemoryHall.prototype
const key = KeyShelf.prototype

export const BROKEN_HALLS: Readonly<Record<string, Breaking>> = {
  'frees no slot': () => instead(key, 'free', () => () => {}),
  'frees a rate with its slot': () =>
    instead(
      key,
      'free',
      (was) =>
        function (this: KeyShelf, job) {
          was.call(this, job, Number.MAX_SAFE_INTEGER)
        },
    ),
  'never stamps a claim': () =>
    instead(
      key,
      'take',
      (was) =>
        function (this: KeyShelf, job, letInAt) {
          was.call(this, job, letInAt, undefined)
        },
    ),
  'counts no spending': () => instead(key, 'spend', () => () => {}),
  'takes nothing back': () => instead(key, 'standing', () => () => []),
  'keeps what stands in a paused queue': () => instead(hall, 'paused', () => () => {}),
  'lets in by its ticker alone': () => instead(hall, 'look', () => () => []),
  'looks at nothing by itself': () =>
    instead(
      hall,
      'due',
      () =>
        function (this: MemoryHall) {
          return this.look()
        },
    ),
  'says that there is no more to let in': () => instead(hall, 'standing', () => () => 0),
  'keeps lanes by the times of their jobs': () =>
    instead(
      Lanes.prototype,
      'enter',
      (was) =>
        function (this: Lanes, job, at, number) {
          was.call(this, job, at === undefined ? at : job.readyAt, number)
        },
    ),
  'gives turns to whoever came first': () =>
    instead(
      Rings.prototype,
      'enter',
      (was) =>
        function (this: Rings, flow, number, now) {
          was.call(this, { ...flow, pass: 0 }, number, now)
        },
    ),
  'forgets keys in use': () => instead(hall, 'mayMove', () => () => true),
  'tells no key with a claim': () => instead(hall, 'told', () => () => undefined),
}

/** At the port itself. */
export const BROKEN_PORTS: Readonly<Record<string, Sabotage>> = {
  'knows no concurrency': (store) => gated(store, { slots: undefined, cap: undefined }),
  'knows no rate': (store) => gated(store, { rate: undefined }),
  'gives more jobs with a flow than asked for': (store) => ({
    claim: ({ limited: _, ...grant }) => store.claim(grant),
  }),
  'moves a key although its job has moved': (store) => ({
    async commit(changes) {
      const alone = changes.flatMap((change): Change[] =>
        change.kind === 'move' && change.flow !== undefined
          ? [{ kind: 'key', tenant: change.before.spec.kind.tenant, move: change.flow }]
          : [],
      )
      await store.commit(alone)
      return store.commit(changes.map((change) => (change.kind === 'move' ? { ...change, flow: undefined } : change)))
    },
  }),
  'goes on from a key that somebody else has brought there': (store) => ({
    commit: (changes) =>
      store.commit(
        changes.map((change) =>
          change.kind === 'move' && change.flow !== undefined
            ? { ...change, flow: { ...change.flow, on: undefined } }
            : change,
        ),
      ),
  }),
  'loses the log of a key': (store) => ({
    async events(query) {
      const page = await store.events(query)
      return { ...page, keys: page.keys?.map((each) => ({ ...each, log: undefined })) }
    },
  }),
  'ends the keys where the first page ends': (store) => ({
    async events(query) {
      const page = await store.events(query)
      return query.by === 'keys' ? { ...page, cursor: undefined } : page
    },
  }),
  'believes its own counters': (store) => ({
    async events(query) {
      const page = await store.events(query)
      return { ...page, keys: page.keys?.map((each) => ({ ...each, recount: each.count.taken + 1 })) }
    },
  }),
}

const gated = (store: Store, gate: Partial<Gate>): Partial<Store> => ({
  insert: (items) =>
    store.insert(
      items.map((item) => ({
        ...item,
        flow: item.flow?.map((each) => ({ ...each, gate: { ...each.gate, ...gate } })),
      })),
    ),
})
