/**
 * A job that waits for a person. While it waits it has no worker and no lease: it is parked, and nothing looks at it
 * until the signal comes or its time is up. The step before the wait is not done again.
 *
 *   node examples/human-approval.ts [store url]
 */
import { setTimeout as pause } from 'node:timers/promises'
import { defineJob, open } from '../src/index.ts'

const refund = defineJob({
  type: 'refund',
  async run(input: { readonly order: string; readonly euros: number }, ctx) {
    const draft = await ctx.step('draft', () => {
      console.log(`drafting a refund of ${input.euros} € for ${input.order}`)
      return { iban: 'DE02 1203 0000 0000 2020 51', euros: input.euros }
    })
    const decision = await ctx.waitFor<{ readonly by: string; readonly ok: boolean }>('decision', { timeout: '2d' })
    if (decision.timedOut) ctx.cancel('nobody decided within two days')
    if (!decision.payload?.ok) ctx.cancel(`refused by ${decision.payload?.by}`)
    return `${draft.euros} € to ${draft.iban}, approved by ${decision.payload?.by}`
  },
})

await using pawl = await open(process.argv[2] ?? 'memory:')
await using worker = pawl.work([refund])

const job = await pawl.enqueue(refund, { order: 'A-17', euros: 42 })
while ((await job.job())?.state !== 'parked') await pause(10)
console.log(`parked; the worker holds ${worker.held} jobs`)
const { because, next } = await pawl.explain(job.id)
console.log(`why is it not running? ${because} ${next}`)

await job.signal('decision', { by: 'ann', ok: true })
console.log(await job.result({ timeout: '10s' }))
