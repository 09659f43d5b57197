/**
 * What must not compile, and where the compiler must point: each line that ends in `// ✗` has an error, and no other has.
 * `test/library/compiler.test.ts` runs the compiler over it.
 */
import { z } from 'zod'
import { type Context, defineJob, duration, type Pawl } from '../../../src/index.ts'

declare const pawl: Pawl
declare const ctx: Context

defineJob({
  type: 'says something else than its schema',
  output: z.object({ chunks: z.int() }),
  run: async () => ({ chunks: 'many' }), // ✗
})

defineJob({
  type: 'leaves something out',
  output: z.object({ chunks: z.int() }),
  run: () => ({ chunk: 1 }), // ✗
})

defineJob({ type: 'far away', timeout: '5 parsecs', run: () => 1 }) // ✗
defineJob({ type: 'in words', lease: '5 minutes', run: () => 1 }) // ✗
defineJob({ type: 'the wrong way round', deadline: '59s4m', run: () => 1 }) // ✗
defineJob({ type: 'as people write it', deadline: '4m59s', timeout: '1.5h', lease: 30_000, run: () => 1 })
defineJob({ type: 'from configuration', timeout: duration(process.env['TIMEOUT'] ?? '5m'), run: () => 1 })
defineJob({ type: 'unchecked', timeout: process.env['TIMEOUT'] ?? '5m', run: () => 1 }) // ✗
defineJob({ type: 'misspelt', retries: { attempts: 3 }, run: () => 1 }) // ✗
defineJob({ type: 'misspelt inside', retry: { attempt: 3 }, run: () => 1 }) // ✗

const page = defineJob({
  type: 'page',
  input: z.object({ url: z.url(), depth: z.int().default(1) }),
  run: ({ url, depth }) => ({ url, at: new Date(depth), seen: new Map<string, number>() }),
})
const none = defineJob({ type: 'none', run: () => {} })

await pawl.enqueue(page) // ✗
await pawl.enqueue(page, { url: 1 }) // ✗
await pawl.enqueue(page, { url: 'https://x.org', deep: 1 }) // ✗
await pawl.enqueue(page, { url: 'https://x.org' }, { priority: 'urgent' }) // ✗
await pawl.enqueue(page, { url: 'https://x.org' }, { delay: 'soon' }) // ✗
await pawl.enqueue(page, { url: 'https://x.org' }, { tx: {} }) // ✗
const job = await pawl.enqueue(page, { url: 'https://x.org' }, { priority: 'batch', timeout: '5s' })
await pawl.enqueue(none)
await pawl.enqueueMany(page, [{ url: 'https://x.org' }], { atomic: true, each: ({ url }) => ({ id: url }) })
await pawl.enqueueMany(page, ['https://x.org']) // ✗

const { at, seen } = await job.result({ timeout: '1m' })
at.toUpperCase()
at.getTime() // ✗
seen.get('x') // ✗
const { url, depth } = await job.input()
url.toUpperCase()
depth?.toFixed()
depth.toFixed() // ✗

const stepped = await ctx.step('one', () => ({ at: new Date(), text: 'x' }), {
  compensate: (result) => void result.at.toUpperCase(),
})
stepped.at.toUpperCase()
stepped.at.getTime() // ✗
stepped.text.toUpperCase()
await ctx.spawn(page, { url: 'https://x.org' }, { priority: 'critical', runAt: new Date() })
await ctx.spawn(page) // ✗
await ctx.spawn(page, { url: 1 }) // ✗
await ctx.spawn(none)
await ctx.spawn('page', { url: 'https://x.org' })
await ctx.sleep('a while') // ✗
