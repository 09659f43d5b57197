/**
 * On Postgres a job can be part of your own transaction: it exists if and only if the transaction commits. And a
 * handler can make its effects and the end of its job one transaction (`ctx.tx`): both happen, or neither.
 *
 *   node examples/transactional-enqueue.ts postgres://…
 */
import pg from 'pg'
import { defineJob, open } from '../src/index.ts'

const url = process.argv[2]
if (url === undefined) throw new Error('usage: node examples/transactional-enqueue.ts postgres://…')

const welcome = defineJob({
  type: 'welcome',
  run: (input: { readonly customer: string }, ctx) =>
    ctx.tx(async (tx) => {
      await tx.query('insert into mails (customer, text) values ($1, $2)', [input.customer, 'welcome'])
      return 'sent'
    }),
})

await using pawl = await open(url, { migrate: true })
const client = new pg.Client({ connectionString: url })
await client.connect()
await client.query(
  'create table if not exists customers (name text); create table if not exists mails (customer text, text text)',
)

/** The customer and the job to welcome them: one transaction. */
async function signUp(customer: string, commit: boolean) {
  await client.query('begin')
  await client.query('insert into customers values ($1)', [customer])
  const job = await pawl.enqueue(welcome, { customer }, { tx: client })
  await client.query(commit ? 'commit' : 'rollback')
  return job
}

const ghost = await signUp('ghost', false)
const ann = await signUp('ann', true)
console.log(`rolled back: ${(await ghost.job()) === undefined ? 'no such job' : 'a job without a customer!'}`)

await using worker = pawl.work([welcome])
console.log(`committed: ${await ann.result({ timeout: '20s' })}`)
const { rows } = await client.query('select customer from mails')
console.log(`mails: ${rows.map((row: { customer: string }) => row.customer).join(', ')}`)
await worker.stop()
await client.end()
