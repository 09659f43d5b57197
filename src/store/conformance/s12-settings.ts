/** S12: settings are compare-and-swap by rev. */
import { queueKey, type Setting, type SettingCollection, type SettingOperation } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { StoreFixture } from './store-fixture.ts'

export const settings: readonly Check[] = [
  {
    name: 'a document is created once, and replaced only from the revision it has',
    async run(fixture) {
      const key = fixture.tenant
      const at = { collection: 'schedule', key } as const
      same(await answer(fixture, { op: 'get', ...at }), ['ok'], 'nothing there')
      same(await answer(fixture, { op: 'put', ...at, text: 'a', rev: 7 }), ['conflict'], 'nothing to replace')
      same(await answer(fixture, { op: 'put', ...at, text: 'a', rev: 0 }), ['ok', [key, 'a', 1]], 'created')
      same(
        await answer(fixture, { op: 'put', ...at, text: 'b', rev: 0 }),
        ['conflict', [key, 'a', 1]],
        'not created again',
      )
      same(await answer(fixture, { op: 'put', ...at, text: 'b', rev: 1 }), ['ok', [key, 'b', 2]], 'replaced')
      same(
        await answer(fixture, { op: 'put', ...at, text: 'c', rev: 1 }),
        ['conflict', [key, 'b', 2]],
        'not from an old one',
      )
      same(
        await answer(fixture, { op: 'put', ...at, text: 'c', rev: undefined }),
        ['ok', [key, 'c', 3]],
        'or regardless',
      )
      same(await answer(fixture, { op: 'get', ...at }), ['ok', [key, 'c', 3]], 'the last one is there')
      same(
        await answer(fixture, { op: 'remove', ...at, rev: 2 }),
        ['conflict', [key, 'c', 3]],
        'not removed from an old one',
      )
      same(await answer(fixture, { op: 'remove', ...at, rev: 3 }), ['ok'], 'removed')
      same(await answer(fixture, { op: 'get', ...at }), ['ok'], 'gone')
      same(await answer(fixture, { op: 'remove', ...at, rev: undefined }), ['ok'], 'removing nothing is no harm')
    },
  },
  {
    name: 'each write tells when it was made, and a collection is apart from the others',
    async run(fixture) {
      const key = fixture.tenant
      const put = (collection: 'token' | 'worker', text: string) =>
        ({ op: 'put', collection, key, text, rev: 0 }) as const
      const answers = await fixture.store.settings([put('token', 't'), put('worker', 'w')])
      same(
        answers.map(({ status }) => status),
        ['ok', 'ok'],
        'the same key in two collections',
      )
      for (const { settings: written, now } of answers) {
        const updatedAt = written[0]?.updatedAt ?? 0
        holds(updatedAt >= fixture.begin && updatedAt <= now, 'written now')
      }
      same(await answer(fixture, { op: 'get', collection: 'worker', key }), ['ok', [key, 'w', 1]], 'each has its own')
    },
  },
  {
    name: 'every collection there is can be written and read',
    async run(fixture) {
      for (const collection of Object.keys(COLLECTIONS) as SettingCollection[]) {
        const key = queueKey(fixture.tenant, `every/${collection}`)
        same(
          await answer(fixture, { op: 'put', collection, key, text: '{}', rev: 0 }),
          ['ok', [key, '{}', 1]],
          'written',
        )
        same(await answer(fixture, { op: 'get', collection, key }), ['ok', [key, '{}', 1]], 'read')
        same(await answer(fixture, { op: 'remove', collection, key, rev: 1 }), ['ok'], 'removed')
      }
    },
  },
  {
    name: 'operations of one call see those before them',
    async run(fixture) {
      const at = { collection: 'worker', key: `${fixture.tenant}/chain` } as const
      const answers = await fixture.store.settings([
        { op: 'put', ...at, text: '1', rev: 0 },
        { op: 'get', ...at },
        { op: 'put', ...at, text: '2', rev: 1 },
        { op: 'remove', ...at, rev: 2 },
        { op: 'get', ...at },
      ])
      const seen = answers.map(({ status, settings: found }) => [status, found[0]?.text])
      const expected = [
        ['ok', '1'],
        ['ok', '1'],
        ['ok', '2'],
        ['ok', undefined],
        ['ok', undefined],
      ]
      same(seen, expected, 'in order')
    },
  },
  {
    name: 'a collection is listed page by page, each document once',
    async run(fixture) {
      const keys = Array.from({ length: 9 }, (_, i) => `${fixture.tenant}/${i}`)
      const put = (key: string) => ({ op: 'put', collection: 'schedule', key, text: key, rev: 0 }) as const
      await fixture.store.settings(keys.map(put))
      const seen: Setting[] = []
      for (let after = '', pages = 0; pages < 1_000; pages += 1) {
        const [page] = await fixture.store.settings([{ op: 'list', collection: 'schedule', after, limit: 2 }])
        const found = page?.settings ?? []
        holds(found.length <= 2, 'no page is longer than asked for')
        if (found.length === 0) break
        seen.push(...found)
        after = found.at(-1)?.key ?? ''
      }
      const mine = seen.filter(({ key }) => key.startsWith(`${fixture.tenant}/`))
      same(
        mine.map(({ key, text }) => [key, text]),
        keys.map((key) => [key, key]),
        'all, in order, once',
      )
    },
  },
  {
    name: 'of many who count up at once none is lost',
    async run(fixture) {
      const other = await fixture.another()
      const at = { collection: 'ids', key: `${fixture.tenant}/counter` } as const
      const countUp = async (store: typeof other) => {
        for (let done = 0; done < 5; ) {
          const [there] = await store.settings([{ op: 'get', ...at }])
          const before = there?.settings[0]
          const text = String(Number(before?.text ?? 0) + 1)
          const [written] = await store.settings([{ op: 'put', ...at, text, rev: before?.rev ?? 0 }])
          if (written?.status === 'ok') done += 1
        }
      }
      await Promise.all([fixture.store, other, fixture.store, other].map(countUp))
      same(await answer(fixture, { op: 'get', ...at }), ['ok', [at.key, '20', 20]], 'twenty times one')
    },
  },
]

/** A collection that is missing here does not compile. */
const COLLECTIONS: Readonly<Record<SettingCollection, true>> = {
  queue: true,
  worker: true,
  token: true,
  schedule: true,
  ids: true,
  idempotency: true,
  clock: true,
  type: true,
  kind: true,
  policy: true,
  audit: true,
  duty: true,
  traffic: true,
}

/** Status and what is there, as [key, text, rev]. */
async function answer(fixture: StoreFixture, operation: SettingOperation): Promise<readonly unknown[]> {
  const [first] = await fixture.store.settings([operation])
  return [first?.status, ...(first?.settings ?? []).map(({ key, text, rev }) => [key, text, rev])]
}
