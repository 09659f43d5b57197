/**
 * Agents that may spend a thousand tokens an hour, all of them together. What is spent is counted where it is spent; once the
 * hour's tokens are gone the rest are held, and say until when. No agent is stopped in the middle of a thought.
 *
 *   node examples/agent-with-a-budget.ts
 */
import { defineJob } from '../src/index.ts'
import { openTesting } from '../src/testing/testing.ts'

const agent = defineJob({
  type: 'agent',
  limit: { key: 'tokens', concurrency: 1, budget: { amount: 1_000, per: '1h' } },
  async run(question: string, ctx) {
    return ctx.step('ask the model', async () => {
      const { text, tokens } = await askModel(question)
      // Within the step: whoever comes after a crash has the answer and pays nothing, or asks again and pays again.
      await ctx.spend(tokens)
      return text
    })
  },
})

/** Stands for a model; an answer costs as many tokens as there are letters in the question, times ten. */
async function askModel(question: string) {
  return { text: `About “${question}”: it depends.`, tokens: 10 * question.length }
}

const QUESTIONS = [
  'What is asked, and by whom, and what for?',
  'What is known about it already?',
  'What would change everything?',
  'Who should be told about it?',
  'What follows?',
]

// The same engine, in time that passes when we say so. An application writes `await using pawl = await open()`.
await using testing = await openTesting([agent])
const { pawl } = testing
const asked = await pawl.enqueueMany(agent, QUESTIONS)
for (const hour of ['first', 'second']) {
  await testing.drain()
  const tokens = await pawl.limits.get('tokens')
  console.log(`${hour} hour: ${tokens?.spent} tokens, ${tokens?.held} questions held`)
  const { way, because, when } = (await asked.at(-1)?.explain()) ?? {}
  if (way === 'held') console.log(`${because} Until ${new Date(when ?? 0).toISOString()}.`)
  await testing.advance('1h')
}
for (const job of asked) console.log(await job.result())
