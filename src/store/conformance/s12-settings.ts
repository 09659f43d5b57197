/** S12: settings are compare-and-swap by rev. */
import { queueKey, type Setting, type SettingCollection, type SettingOperation } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { Stage } from './stage.ts'

export const settings: readonly Scene[] = [
  {
    name: 'a document is created once, and replaced only from the revision it has',
    async play(stage) {
      const key = stage.tenant
      const at = { collection: 'schedule', key } as const
      same(await answer(stage, { op: 'get', ...at }), ['ok'], 'nothing there')
      same(await answer(stage, { op: 'put', ...at, text: 'a', rev: 7 }), ['conflict'], 'nothing to replace')
      same(await answer(stage, { op: 'put', ...at, text: 'a', rev: 0 }), ['ok', [key, 'a', 1]], 'created')
      same(
        await answer(stage, { op: 'put', ...at, text: 'b', rev: 0 }),
        ['conflict', [key, 'a', 1]],
        'not created again',
      )
      same(await answer(stage, { op: 'put', ...at, text: 'b', rev: 1 }), ['ok', [key, 'b', 2]], 'replaced')
      same(
        await answer(stage, { op: 'put', ...at, text: 'c', rev: 1 }),
        ['conflict', [key, 'b', 2]],
        'not from an old one',
      )
      same(await answer(stage, { op: 'put', ...at, text: 'c', rev: undefined }), ['ok', [key, 'c', 3]], 'or regardless')
      same(await answer(stage, { op: 'get', ...at }), ['ok', [key, 'c', 3]], 'the last one is there')
      same(
        await answer(stage, { op: 'remove', ...at, rev: 2 }),
        ['conflict', [key, 'c', 3]],
        'not removed from an old one',
      )
      same(await answer(stage, { op: 'remove', ...at, rev: 3 }), ['ok'], 'removed')
      same(await answer(stage, { op: 'get', ...at }), ['ok'], 'gone')
      same(await answer(stage, { op: 'remove', ...at, rev: undefined }), ['ok'], 'removing nothing is no harm')
    },
  },
  {
    name: 'each write tells when it was made, and a collection is apart from the others',
    async play(stage) {
      const key = stage.tenant
      const put = (collection: 'token' | 'worker', text: string) =>
        ({ op: 'put', collection, key, text, rev: 0 }) as const
      const answers = await stage.store.settings([put('token', 't'), put('worker', 'w')])
      same(
        answers.map(({ status }) => status),
        ['ok', 'ok'],
        'the same key in two collections',
      )
      for (const { settings: written, now } of answers) {
        const updatedAt = written[0]?.updatedAt ?? 0
        holds(updatedAt >= stage.begin && updatedAt <= now, 'written now')
      }
      same(await answer(stage, { op: 'get', collection: 'worker', key }), ['ok', [key, 'w', 1]], 'each has its own')
    },
  },
  {
    name: 'every collection there is can be written and read',
    async play(stage) {
      for (const collection of Object.keys(COLLECTIONS) as SettingCollection[]) {
        const key = queueKey(stage.tenant, `every/${collection}`)
        same(await answer(stage, { op: 'put', collection, key, text: '{}', rev: 0 }), ['ok', [key, '{}', 1]], 'written')
        same(await answer(stage, { op: 'get', collection, key }), ['ok', [key, '{}', 1]], 'read')
        same(await answer(stage, { op: 'remove', collection, key, rev: 1 }), ['ok'], 'removed')
      }
    },
  },
  {
    name: 'operations of one call see those before them',
    async play(stage) {
      const at = { collection: 'worker', key: `${stage.tenant}/chain` } as const
      const answers = await stage.store.settings([
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
    async play(stage) {
      const keys = Array.from({ length: 9 }, (_, i) => `${stage.tenant}/${i}`)
      const put = (key: string) => ({ op: 'put', collection: 'schedule', key, text: key, rev: 0 }) as const
      await stage.store.settings(keys.map(put))
      const seen: Setting[] = []
      for (let after = '', pages = 0; pages < 1_000; pages += 1) {
        const [page] = await stage.store.settings([{ op: 'list', collection: 'schedule', after, limit: 2 }])
        const found = page?.settings ?? []
        holds(found.length <= 2, 'no page is longer than asked for')
        if (found.length === 0) break
        seen.push(...found)
        after = found.at(-1)?.key ?? ''
      }
      const mine = seen.filter(({ key }) => key.startsWith(`${stage.tenant}/`))
      same(
        mine.map(({ key, text }) => [key, text]),
        keys.map((key) => [key, key]),
        'all, in order, once',
      )
    },
  },
  {
    name: 'of many who count up at once none is lost',
    async play(stage) {
      const other = await stage.another()
      const at = { collection: 'ids', key: `${stage.tenant}/counter` } as const
      const countUp = async (store: typeof other) => {
        for (let done = 0; done < 5; ) {
          const [there] = await store.settings([{ op: 'get', ...at }])
          const before = there?.settings[0]
          const text = String(Number(before?.text ?? 0) + 1)
          const [written] = await store.settings([{ op: 'put', ...at, text, rev: before?.rev ?? 0 }])
          if (written?.status === 'ok') done += 1
        }
      }
      await Promise.all([stage.store, other, stage.store, other].map(countUp))
      same(await answer(stage, { op: 'get', ...at }), ['ok', [at.key, '20', 20]], 'twenty times one')
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
  audit: true,
}

/** Status and what is there, as [key, text, rev]. */
async function answer(stage: Stage, operation: SettingOperation): Promise<readonly unknown[]> {
  const [first] = await stage.store.settings([operation])
  return [first?.status, ...(first?.settings ?? []).map(({ key, text, rev }) => [key, text, rev])]
}
