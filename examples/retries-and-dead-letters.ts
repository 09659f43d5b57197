/**
 * Errors have classes. A transient one is retried on a curve until the budget is spent, then the job is a dead letter;
 * a permanent one ends the job at once. A dead letter is looked at, the cause is removed, the job is driven once more.
 *
 *   node examples/retries-and-dead-letters.ts [store url]
 */
import { defineJob, JobDeadLettered, JobFailed, open, PermanentError, TransientError } from '../src/index.ts'

let shopIsOpen = false

const order = defineJob({
  type: 'order',
  retry: { attempts: 3, base: '50ms', factor: 2, max: '1s', jitter: 'full' },
  onExhausted: 'dead_letter',
  async run(input: { readonly item: string }, ctx) {
    console.log(`run ${ctx.attempt}: ordering ${input.item}`)
    if (input.item === 'unicorn') throw new PermanentError('there are none', { code: 'invalid_item' })
    if (!shopIsOpen) throw new TransientError('nobody answers', { code: 'E_5XX_ORIGIN', stage: 'fetch' })
    return `one ${input.item}, on its way`
  },
})

// Each failure would be a warning on standard error; here they are on purpose.
await using pawl = await open(process.argv[2] ?? 'memory:', { log: 'silent' })
await using _ = pawl.work([order], { poll: '50ms' })

const lamp = await pawl.enqueue(order, { item: 'lamp' })
try {
  await lamp.result({ timeout: '30s' })
} catch (error) {
  if (!(error instanceof JobDeadLettered)) throw error
  const letter = error.job.deadLetter
  console.log(`dead letter: ${letter?.reason} after ${letter?.attempts} runs, last ${letter?.lastError.code}`)
}

const unicorn = await pawl.enqueue(order, { item: 'unicorn' })
try {
  await unicorn.result({ timeout: '30s' })
} catch (error) {
  if (!(error instanceof JobFailed)) throw error
  console.log(`failed: ${error.code}, no retry would help`)
}

shopIsOpen = true
const { matched } = await pawl.redrive({ types: ['order'] }, { dryRun: true })
console.log(`the shop is open; to be driven once more: ${matched}`)
await pawl.redrive({ types: ['order'] })
console.log(await lamp.result({ timeout: '30s' }))
