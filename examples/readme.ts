import { z } from 'zod'
import { defineJob, open, PermanentError } from '../src/index.ts'

const sendOffer = defineJob({
  type: 'offer.send',
  input: z.object({ customer: z.string(), cents: z.int().positive() }), // any Standard Schema
  lease: '30s',
  timeout: '5m',
  retry: { attempts: 7, base: '2s', factor: 2, max: '60s', jitter: 'full' },
  onExhausted: 'dead_letter',
  dedupe: ({ customer }) => customer, // at most one live offer per customer
  async run({ customer, cents }, ctx) {
    const letter = await ctx.step('write', () => `Dear ${customer}, it costs ${cents / 100} €.`) // once, even if we crash below
    const approval = await ctx.waitFor<{ by: string }>('approved', { timeout: '2d' }) // holds no worker while it waits
    if (approval.timedOut) throw new PermanentError('nobody approved')
    return { letter, approvedBy: approval.payload.by }
  },
})

await using pawl = await open() // .pawl/jobs.db; or memory:, a path, postgres://…
await using _worker = pawl.work([sendOffer], { concurrency: 8 })

const job = await pawl.enqueue(sendOffer, { customer: 'Ann', cents: 4200 })
await job.signal('approved', { by: 'Bob' })
console.log(await job.result({ timeout: '1m' }))
for (const { rev, type, from, to } of await job.events()) console.log(rev, type, from ?? '', to ? `→ ${to}` : '')
