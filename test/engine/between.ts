import type { Change, CommitAnswer, InsertAnswer, Store } from '../../src/store/store.ts'

/** A store that can be told to misbehave, and that counts how often it is asked. */
export class Between {
  readonly calls = { load: 0, commit: 0, insert: 0 }
  /** Answers of the next calls that get lost on their way back: the work is done, nobody hears of it. */
  losing = 0
  /** Called before each commit reaches the store. */
  beforeCommit: ((changes: readonly Change[]) => Promise<void> | void) | undefined

  /** Called once the next insert is answered, before anybody hears of it. */
  afterInsert: (() => Promise<void>) | undefined

  wrap(store: Store): Store {
    const { calls } = this
    const lost = <A>(answer: A): A => {
      if (this.losing === 0) return answer
      this.losing -= 1
      throw new Error('connection lost')
    }
    return {
      insert: async (items, tx, together): Promise<InsertAnswer> => {
        calls.insert += 1
        const answer = await store.insert(items, tx, together)
        const hook = this.afterInsert
        this.afterInsert = undefined
        await hook?.()
        return lost(answer)
      },
      load: (items) => {
        calls.load += 1
        return store.load(items)
      },
      claim: async (grant) => lost(await store.claim(grant)),
      commit: async (changes, tx): Promise<CommitAnswer> => {
        calls.commit += 1
        const hook = this.beforeCommit
        this.beforeCommit = undefined
        await hook?.(changes)
        return lost(await store.commit(changes, tx))
      },
      heartbeat: async (beats) => lost(await store.heartbeat(beats)),
      due: (limit, agenda) => store.due(limit, agenda),
      find: (query) => store.find(query),
      events: (query) => store.events(query),
      settings: (operations) => store.settings(operations),
      subscribe: (wake) => store.subscribe(wake),
      close: () => store.close(),
    }
  }
}
