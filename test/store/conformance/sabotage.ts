import { isEnded, type Job } from '../../../src/core/job.ts'
import type { Beaten, Change, ClaimAnswer, JobPage, NewJob, Store, Verdict } from '../../../src/store/store.ts'

/** A store with one promise broken, the way stores break them. The suite must notice each. */
export type Sabotage = (store: Store) => Partial<Store>

/** For whoever tidies up after the saboteur. */
export const LEFT_BEHIND: NodeJS.Timeout[] = []

/** By the promise that is broken. */
export const SABOTAGES: Readonly<Record<string, Readonly<Record<string, Sabotage>>>> = {
  S2: {
    'loses the input': (store) => ({
      insert: (items) => store.insert(items.map((item) => ({ ...item, input: undefined }))),
    }),
    'forgets keys': (store) => ({ insert: (items) => store.insert(items.map((item) => ({ ...item, keys: [] }))) }),
    'keeps some of those that come together': (store) => ({ insert: (items, tx) => store.insert(items, tx) }),
    'fails the batch with the item': (store) => ({
      async insert(items) {
        const answer = await store.insert(items)
        if (answer.items.some(({ status }) => status !== 'inserted')) throw new Error('duplicate key')
        return answer
      },
    }),
    'answers with what was asked for': (store) => ({
      async insert(items) {
        const answer = await store.insert(items)
        const mine = (i: number) => (items[i] as NewJob).job
        return {
          ...answer,
          items: answer.items.map((item, i) => (item.status === 'exists' ? { ...item, job: mine(i) } : item)),
        }
      },
    }),
  },
  S3: {
    'never pauses': (store) => ({
      settings: (operations) =>
        store.settings(
          operations.map((each) => (each.op === 'put' && each.collection === 'queue' ? { ...each, text: '{}' } : each)),
        ),
    }),
    'serves lanes backwards': (store) => ({
      claim: (grant) => store.claim({ ...grant, lanes: grant.lanes.toReversed() }),
    }),
    'gives away what its claimer does not serve': (store) => ({
      claim: ({ serves: _, ...grant }) => store.claim(grant),
    }),
    'gives nobody what somebody must serve': (store) => ({ claim: (grant) => store.claim({ ...grant, serves: [] }) }),
    'serves one need of several': (store) => ({
      claim: ({ serves, ...grant }) => store.claim({ ...grant, serves: serves?.slice(0, 1) }),
    }),
    'gives more than asked for': (store) => ({ claim: (grant) => store.claim({ ...grant, limit: grant.limit + 1 }) }),
    'stamps another lease than it says': (store) => ({
      async claim(grant) {
        const answer = await store.claim(grant)
        return { ...answer, jobs: answer.jobs.map((job) => ({ ...job, leaseExpiresAt: job.leaseExpiresAt + 1 })) }
      },
    }),
    'answers with the record as it is': (store) => ({
      async claim(grant) {
        const answer = await store.claim(grant)
        const { items } = await store.load(answer.jobs.map(({ before }) => ({ id: before.id })))
        return { ...answer, jobs: answer.jobs.map((job, i) => ({ ...job, before: items[i]?.job as Job })) }
      },
    }),
    'sends every input along': (store) => ({ claim: (grant) => store.claim({ ...grant, maxInputBytes: 1 << 30 }) }),
    'ignores the tenant of a lane': (store) => ({
      claim: (grant) =>
        store.claim({
          ...grant,
          lanes: grant.lanes.map((lane) => ({ ...lane, tenant: lane.tenant.replace(/x$/, '') })),
        }),
    }),
  },
  S4: {
    'does not look at the clock': (store) => moves(store, (change) => ({ ...change, notAfter: undefined })),
    'keeps bodies that were to go': (store) => moves(store, (change) => ({ ...change, strips: undefined })),
    'does not look at the revision': (store) => ({
      async commit(changes) {
        const { items } = await store.load(
          changes.map((change) => ({ id: 'before' in change ? change.before.id : '' })),
        )
        return store.commit(
          changes.map((change, i) =>
            'before' in change ? { ...change, before: items[i]?.job ?? change.before } : change,
          ),
        )
      },
    }),
    'loses bodies': (store) => moves(store, (change) => ({ ...change, bodies: [] })),
    'loses successors': (store) => moves(store, (change) => ({ ...change, spawn: undefined })),
    'applies all or nothing of a batch': (store) => ({
      async commit(changes) {
        const answer = await store.commit(changes)
        const bad = answer.verdicts.find(({ status }) => status !== 'applied')
        return { ...answer, verdicts: answer.verdicts.map((verdict) => bad ?? verdict) }
      },
    }),
    'says it has compacted': (store) => ({
      async commit(changes) {
        const { now, verdicts } = await store.commit(changes.filter(({ kind }) => kind !== 'compact'))
        const rest = [...verdicts]
        const said = (kind: Change['kind']): Verdict =>
          kind === 'compact' ? { status: 'applied' } : (rest.shift() as Verdict)
        return { now, verdicts: changes.map(({ kind }) => said(kind)) }
      },
    }),
    'does not count what it purges': (store) => ({
      events: async (query) => ({ ...(await store.events(query)), purged: 0 }),
    }),
  },
  S5: {
    'believes any fence': (store) => ({
      async heartbeat(beats) {
        const { items } = await store.load(beats.map(({ id }) => ({ id })))
        return store.heartbeat(beats.map((beat, i) => ({ ...beat, fence: items[i]?.job.lease?.fence ?? beat.fence })))
      },
    }),
    'counts a repetition': (store) => {
      let n = 0
      const fresh = () => `fresh-${n++}`
      return { heartbeat: (beats) => store.heartbeat(beats.map((beat) => ({ ...beat, requestId: fresh() }))) }
    },
    'tells nobody of a cancel': (store) => ({
      async heartbeat(beats) {
        const answer = await store.heartbeat(beats)
        const { items } = await store.load(beats.map(({ id }) => ({ id })))
        return { ...answer, items: answer.items.map((item, i) => asIfRenewed(item, items[i]?.job)) }
      },
    }),
  },
  S6: {
    'shows the log backwards': (store) => ({
      async events(query) {
        const page = await store.events(query)
        return { ...page, events: page.events.toReversed() }
      },
    }),
    'forgets what a request caused': (store) => ({
      load: (items) => store.load(items.map(({ requestId: _, ...item }) => item)),
    }),
    'remembers requests for as long as a job has not been reopened': (store) => ({
      async load(items) {
        const answer = await store.load(items)
        const forgetful = answer.items.map(
          (item) => item && { ...item, caused: item.job.generation > 0 ? [] : item.caused },
        )
        return { ...answer, items: forgetful }
      },
    }),
    'ends a log where the first page ends': (store) => ({
      async events(query) {
        const page = await store.events(query)
        return query.by === 'job' ? { ...page, cursor: undefined } : page
      },
    }),
    'shows everybody’s words': (store) => ({
      events: (query) => store.events(query.by === 'correlation' ? { ...query, tenant: undefined } : query),
    }),
    'includes the end of an interval': (store) => ({
      events: (query) => store.events(query.by === 'type' ? { ...query, to: query.to + 1 } : query),
    }),
    'loses a word of an event': (store) => ({
      async events(query) {
        const page = await store.events(query)
        return { ...page, events: page.events.map((event) => ({ ...event, reason: undefined })) }
      },
    }),
  },
  S7: {
    'shows an event twice': (store) => ({
      events: (query) =>
        store.events(
          query.by === 'feed' && query.after
            ? { ...query, after: String(Math.max(0, Number(query.after) - 1)) }
            : query,
        ),
    }),
    'skips an event': (store) => ({
      events: (query) =>
        store.events(
          query.by === 'feed' && query.after !== undefined
            ? { ...query, after: String(Number(query.after) + 1) }
            : query,
        ),
    }),
    miscounts: (store) => ({
      async events(query) {
        const page = await store.events(query)
        return { ...page, tally: page.tally.map((each) => ({ ...each, count: each.count + 1 })) }
      },
    }),
  },
  S8: {
    'hands out to everybody': (store) => {
      let last: readonly Job[] = []
      return {
        async due(limit, agenda) {
          const answer = await store.due(limit, agenda)
          const jobs = [...last, ...answer.jobs].slice(0, limit)
          last = answer.jobs
          return { ...answer, jobs }
        },
      }
    },
    'hands what waits to be judged to whoever asks': (store) => ({
      async due(limit, agenda) {
        const answer = await store.due(limit, agenda)
        return answer.jobs.length > 0 ? answer : store.due(limit, 'judgements')
      },
    }),
    'loses one that is due': (store) => ({
      async due(limit, agenda) {
        const answer = await store.due(limit, agenda)
        return answer.jobs.length > 0 ? { ...answer, jobs: answer.jobs.slice(1) } : answer
      },
    }),
  },
  S9: {
    'knows no repeated claim': (store) => {
      let n = 0
      return { claim: (grant) => store.claim({ ...grant, requestId: `${grant.requestId}/${n++}` }) }
    },
    'says a repeated insert is new': (store) => ({
      async insert(items) {
        const answer = await store.insert(items)
        return { ...answer, items: answer.items.map(() => ({ status: 'inserted' })) }
      },
    }),
  },
  S10: {
    'speaks UTF-8': (store) => texts(store, (text) => Buffer.from(text).toString()),
    'normalises letters': (store) => texts(store, (text) => text.normalize('NFC')),
    'cuts at a nul': (store) => texts(store, (text) => text.split('\u0000')[0] ?? ''),
    'keeps inputs as JSON': (store) => ({
      insert: (items) => store.insert(items.map((item) => ({ ...item, input: reparsed(item.input) }))),
    }),
  },
  S11: {
    'holds keys for ever': (store) => ({
      insert: (items) =>
        store.insert(items.map((item) => ({ ...item, keys: item.keys.map((key) => ({ ...key, until: undefined })) }))),
    }),
    'gives up nothing': (store) => moves(store, (change) => ({ ...change, give: [] })),
    'takes nothing': (store) => moves(store, (change) => ({ ...change, take: [] })),
  },
  S12: {
    'writes regardless': (store) => ({
      settings: (operations) =>
        store.settings(operations.map((each) => ('rev' in each ? { ...each, rev: undefined } : each))),
    }),
    'lists from the start': (store) => ({
      settings: (operations) =>
        store.settings(operations.map((each) => (each.op === 'list' ? { ...each, after: '' } : each))),
    }),
  },
  S13: {
    'runs backwards': (store) => {
      let back = 0
      return {
        async load(items) {
          const answer = await store.load(items)
          back += 1
          return { ...answer, now: answer.now - back }
        },
      }
    },
  },
  S14: {
    'never announces anything': () => ({ subscribe: async () => ({ [Symbol.asyncDispose]: async () => {} }) }),
    'tells an owner nothing but the end': (store) => ({
      subscribe: (wake) =>
        store.subscribe(async (hint) => {
          const [found] = hint.about === 'job' ? (await store.load([{ id: hint.id }])).items : []
          if (found === undefined || isEnded(found.job)) wake(hint)
        }),
    }),
    'announces to whoever has left': (store) => ({
      async subscribe(wake) {
        await store.subscribe(wake)
        return { [Symbol.asyncDispose]: async () => {} }
      },
    }),
  },
  S15: {
    'sends bodies unasked': (store) => ({
      load: (items) => store.load(items.map((item) => ({ ...item, bodies: ['input'] }))),
    }),
    'ignores the cursor': (store) => ({ find: ({ cursor: _, ...query }) => store.find(query) }),
    'ignores the tenant of an id': (store) => ({
      load: (items) =>
        store.load(items.map(({ tenant, ...item }) => (item.id.startsWith('pj_') ? item : { ...item, tenant }))),
    }),
    'ignores labels': (store) => ({ find: ({ labels: _, ...query }) => store.find(query) }),
    'shows everybody’s jobs': (store) => ({ find: ({ tenant: _, ...query }) => store.find(query) }),
    'shows long logs that go on': (store) => ({
      find: ({ longEnded, ...query }) => store.find(longEnded === undefined ? query : { ...query, cursor: undefined }),
    }),
    'shows everybody’s counts': (store) => ({
      events: (query) => store.events(query.by === 'tally' ? { by: 'tally' } : query),
    }),
    'shows what was there when it was last asked': (store) => {
      const shown = new Map<string, JobPage>()
      return {
        async find(query) {
          const name = JSON.stringify(query)
          const before = shown.get(name)
          const page = await store.find(query)
          shown.set(name, page)
          return before ?? page
        },
      }
    },
  },
  S16: {
    'stays open': () => ({ close: async () => {} }),
    'leaves a timer': (store) => {
      // Several: one could be taken for another that was there before and has run out meanwhile.
      for (let n = 0; n < 5; n += 1) LEFT_BEHIND.push(setInterval(() => {}, 60_000))
      return { close: () => store.close() }
    },
  },
  S17: {
    'does not wait': (store) => ({ claim: ({ waitMs: _, ...grant }) => store.claim(grant) }),
    'waits for ever': (store) => ({
      claim: (grant) => store.claim({ ...grant, waitMs: grant.waitMs && 1e12 }),
    }),
    'looks only when it is told to': (store) => ({
      async claim({ waitMs = 0, ...grant }) {
        for (;;) {
          const told = Promise.withResolvers<void>()
          await using _subscription = await store.subscribe(() => told.resolve())
          grant.signal?.addEventListener('abort', () => told.resolve())
          const answer = await store.claim(grant)
          if (answer.jobs.length > 0 || waitMs === 0 || grant.signal?.aborted === true) return answer
          await told.promise
        }
      },
    }),
    'does not hear that nobody waits': (store) => ({ claim: ({ signal: _, ...grant }) => store.claim(grant) }),
    'claims for whoever has gone': (store) => ({
      claim: ({ signal, ...grant }) =>
        signal?.aborted === true ? store.claim({ ...grant, waitMs: 0 }) : store.claim({ ...grant, signal }),
    }),
    'forgets what it has given when nobody waits any more': (store) => ({
      async claim(grant) {
        const answer = await store.claim(grant)
        return grant.signal?.aborted === true ? { ...answer, jobs: [] } : answer
      },
    }),
    'goes on waiting in the name of whoever has gone': (store) => ({
      async claim(grant) {
        const { signal, waitMs, ...rest } = grant
        const answer = await store.claim(grant)
        if (signal?.aborted === true)
          void store.claim({ ...rest, waitMs, requestId: `${rest.requestId}x` }).catch(() => {})
        return answer
      },
    }),
    'says of what nobody has seen that it is a repetition': (store) => ({
      async claim(grant) {
        const answer = await store.claim(grant)
        return { ...answer, replayed: answer.jobs.length > 0 }
      },
    }),
    'tells the time when it began to wait': (store) => ({
      async claim(grant) {
        const { now } = await store.load([])
        return { ...(await store.claim(grant)), now }
      },
    }),
    'gives more than asked for': (store) => ({ claim: (grant) => store.claim({ ...grant, limit: grant.limit + 1 }) }),
    'waits for all priorities': (store) => ({
      claim: (grant) =>
        store.claim({
          ...grant,
          lanes: grant.lanes.flatMap((lane) => [lane, { ...lane, priority: 4 as const }]),
        }),
    }),
    'gives from a paused queue': (store) => ({
      settings: (operations) =>
        store.settings(
          operations.map((each) => (each.op === 'put' && each.collection === 'queue' ? { ...each, text: '{}' } : each)),
        ),
    }),
    'answers all who wait': (store) => {
      const last: { jobs: ClaimAnswer['jobs'] } = { jobs: [] }
      return {
        async claim(grant) {
          const answer = await store.claim(grant)
          if (answer.jobs.length > 0) last.jobs = answer.jobs
          return grant.signal?.aborted === true ? { ...answer, jobs: last.jobs } : answer
        },
      }
    },
  },
}

/** The whole store, with some of its methods tampered with. */
export function tampered(store: Store, sabotage: Sabotage): Store {
  return {
    insert: (items, tx) => store.insert(items, tx),
    load: (items) => store.load(items),
    claim: (grant) => store.claim(grant),
    commit: (changes, tx) => store.commit(changes, tx),
    heartbeat: (beats) => store.heartbeat(beats),
    due: (limit, agenda) => store.due(limit, agenda),
    find: (query) => store.find(query),
    events: (query) => store.events(query),
    settings: (operations) => store.settings(operations),
    subscribe: (wake) => store.subscribe(wake),
    close: () => store.close(),
    ...sabotage(store),
  }
}

function asIfRenewed(item: Beaten, job: Job | undefined): Beaten {
  if (item.status !== 'careful' || job?.lease === undefined) return item
  const { beats, expiresAt: leaseExpiresAt } = job.lease
  return { status: 'renewed', rev: job.rev, beats, leaseExpiresAt, replayed: false }
}

type Move = Extract<Change, { kind: 'move' }>

const moves = (store: Store, change: (move: Move) => Move): Partial<Store> => ({
  commit: (changes) => store.commit(changes.map((each) => (each.kind === 'move' ? change(each) : each))),
})

/** Every string of every new job, as if a codec had passed over it. */
const texts = (store: Store, pass: (text: string) => string): Partial<Store> => ({
  insert: (items) => store.insert(items.map((item) => mapped(item, pass))),
})

function mapped<T>(value: T, pass: (text: string) => string): T {
  if (typeof value === 'string') return pass(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each: unknown) => mapped(each, pass)) as T
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapped(each, pass)])) as T
}

function reparsed(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}
