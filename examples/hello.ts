/**
 * Hello: one job type, one worker, one job. Nothing to install: the store is a file, or memory.
 *
 *   node examples/hello.ts [store url]
 */
import { defineJob, open } from '../src/index.ts'

const hello = defineJob({
  type: 'hello',
  run: async (input: { readonly name: string }) => `Hello, ${input.name}!`,
})

await using pawl = await open(process.argv[2] ?? 'memory:')
await using _ = pawl.work([hello])

const job = await pawl.enqueue(hello, { name: 'world' })
console.log(await job.result({ timeout: '10s' }))

for (const event of await job.events()) {
  console.log(`${event.rev}. ${event.type}: ${event.from ?? 'nothing'} → ${event.to}, by ${event.actor.split(':')[0]}`)
}
