/** S10, continued: text in what a store is asked for, and in its settings. */
import { type JobQuery, queueKey } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import { HOSTILE_TEXTS, MEBIBYTE } from './hostile.ts'
import { entry, kindOf } from './hostile-places.ts'
import type { StoreFixture } from './store-fixture.ts'

export const askedText: readonly Check[] = [
  { name: 'in a query: nothing found is no error', run: inQueries },
  { name: 'in a setting: key and text', run: inSettings },
  { name: 'in the name of a paused queue', run: inPauses },
]

async function inQueries(fixture: StoreFixture): Promise<void> {
  const page = { order: 'newest', limit: 5 } as const
  for (const [name, text] of Object.entries({ ...HOSTILE_TEXTS, mebibyte: MEBIBYTE })) {
    const { items } = await fixture.store.load([{ id: text }, { id: text, tenant: fixture.tenant, requestId: text }])
    same(items, [undefined, undefined], `${name}: no such job`)
    const { tenant } = fixture
    const queries: readonly Partial<JobQuery>[] = [
      { tenant: `${tenant}${text}` },
      { tenant, queues: [text] },
      { tenant, types: [text] },
      { tenant, labels: entry(text, text) },
      { tenant, correlationId: text },
      { tenant, workflowId: text },
      { tenant, dedupeKey: text },
      { tenant, code: text },
    ]
    for (const query of queries) same((await fixture.store.find({ ...query, ...page })).jobs, [], `${name}: none`)
    const lanes = [{ tenant, queue: text, priority: 5 }]
    same((await fixture.claim({ lanes })).jobs, [], `${name}: nothing to claim`)
    const found = await fixture.store.events({ by: 'correlation', tenant, correlationId: text, limit: 5 })
    same(found.events, [], `${name}: no event`)
  }
}

async function inSettings(fixture: StoreFixture): Promise<void> {
  for (const [name, text] of Object.entries({ ...HOSTILE_TEXTS, mebibyte: MEBIBYTE })) {
    const key = `${fixture.tenant}${text}`
    const at = { collection: 'token', key } as const
    const put = { op: 'put', ...at, text, rev: 0 } as const
    // There is no verdict for a document that cannot be kept: the call itself says so.
    const written = await fixture.store.settings([put]).catch(() => undefined)
    if (written === undefined) continue
    const [got] = await fixture.store.settings([{ op: 'get', ...at }])
    same(
      got?.settings.map((each) => [each.key, each.text]),
      [[key, text]],
      `${name}: it comes back as it was`,
    )
  }
  const [list] = await fixture.store.settings([{ op: 'list', collection: 'token', after: '', limit: 10_000 }])
  const mine = list?.settings.filter(({ key }) => key.startsWith(fixture.tenant)) ?? []
  same(new Set(mine.map(({ key }) => key)).size, mine.length, 'each is listed once')
  holds(mine.length >= Object.keys(HOSTILE_TEXTS).length, 'all are listed')
}

async function inPauses(fixture: StoreFixture): Promise<void> {
  const { tenant } = fixture
  const queues = Object.values(HOSTILE_TEXTS)
  const pause = (paused: boolean) =>
    fixture.store.settings(
      queues.map((queue) => ({
        op: 'put',
        collection: 'queue',
        key: queueKey(tenant, queue),
        text: JSON.stringify({ paused }),
        rev: undefined,
      })),
    )
  await fixture.store.insert(queues.map((queue) => kindOf(fixture.draft(), { queue })))
  const lanes = queues.map((queue) => ({ tenant, queue, priority: 5 }))
  await pause(true)
  same((await fixture.claim({ lanes })).jobs, [], 'all are paused')
  await pause(false)
  same((await fixture.claim({ lanes })).jobs.length, queues.length, 'all give again')
}
