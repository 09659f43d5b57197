/** S14: hints may be lost, never the work. */
import type { JobId } from '../../core/job.ts'
import type { Hint } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { Saying, Stage } from './stage.ts'

export const hints: readonly Scene[] = [
  {
    name: 'new work and the end of a job are announced',
    needs: 'hints',
    async play(stage) {
      const heard: Hint[] = []
      await using _subscription = await stage.store.subscribe((hint) => heard.push(hint))
      const isAnything = (hint: Hint) => hint.about === 'anything'
      // A hint may be lost, but not every one of many.
      await stage.eventually('new work is announced', async () => {
        await stage.insertOne()
        const mine = (hint: Hint) => hint.about === 'queue' && hint.tenant === stage.tenant && hint.queue === 'main'
        return heard.some((hint) => isAnything(hint) || mine(hint))
      })
      heard.length = 0
      await stage.eventually('the end of a job is announced', async () => {
        const job = await stage.insertOne()
        heard.length = 0
        await stage.say(job, { type: 'cancel', mode: 'hard' })
        await stage.seat.advance(50)
        return heard.some((hint) => isAnything(hint) || (hint.about === 'job' && hint.id === job.id))
      })
    },
  },
  {
    name: 'an owner is told when it is asked to cancel, and when the job is taken from it, whoever did that',
    needs: 'hints',
    async play(stage) {
      const heard: Hint[] = []
      await using _subscription = await stage.store.subscribe((hint) => heard.push(hint))
      const other = await stage.another()
      const isAbout = (id: JobId) => (hint: Hint) =>
        hint.about === 'anything' || (hint.about === 'job' && hint.id === id)
      for (const store of [stage.store, other]) {
        for (const [what, saying] of AGAINST_ITS_OWNER) {
          await stage.eventually(`a ${what} is announced`, async () => {
            const job = await stage.claimed({ type: what })
            const change = stage.change(job, saying, await stage.now())
            await stage.seat.advance(50)
            heard.length = 0
            same((await store.commit([change])).verdicts, [{ status: 'applied' }], `a ${what} is applied`)
            await stage.eventually('it is heard of', () => heard.some(isAbout(job.id)), 1_000).catch(() => {})
            return heard.some(isAbout(job.id))
          })
        }
      }
    },
  },
  {
    name: 'what another process does is announced too',
    needs: 'hints',
    async play(stage) {
      const heard: Hint[] = []
      await using _subscription = await stage.store.subscribe((hint) => heard.push(hint))
      const other = await stage.another()
      await stage.eventually('new work is announced', async () => {
        await other.insert([stage.draft()])
        return heard.some(
          (hint) => hint.about === 'anything' || (hint.about === 'queue' && hint.tenant === stage.tenant),
        )
      })
    },
  },
  {
    name: 'what a hint would announce is found by polling',
    async play(stage) {
      const job = await stage.insertOne()
      same((await stage.claim()).jobs[0]?.before.id, job.id, 'without any subscription')
    },
  },
  {
    name: 'every hint is well formed, and after the subscription has ended there is none',
    async play(stage) {
      const heard: Hint[] = []
      const first = await stage.store.subscribe((hint) => heard.push(hint))
      const second = await stage.store.subscribe(() => {})
      await work(stage)
      await stage.seat.advance(100)
      for (const hint of heard) holds(wellFormed(hint), `a hint: ${JSON.stringify(hint)}`)
      await first[Symbol.asyncDispose]()
      heard.length = 0
      await work(stage)
      await stage.seat.advance(100)
      same(heard, [], 'nobody listens any more')
      await first[Symbol.asyncDispose]()
      await second[Symbol.asyncDispose]()
    },
  },
]

const AGAINST_ITS_OWNER: readonly (readonly [what: string, saying: Saying])[] = [
  ['soft cancel', { type: 'cancel', mode: 'soft' }],
  ['hard cancel', { type: 'cancel', mode: 'hard' }],
  ['dead letter', { type: 'deadLetter', reason: 'policy_violation', stage: 'exec' }],
]

async function work(stage: Stage): Promise<void> {
  const job = await stage.insertOne()
  await stage.say(job, { type: 'cancel', mode: 'hard' })
}

const wellFormed = (hint: Hint): boolean =>
  hint.about === 'anything' ||
  (hint.about === 'job' && hint.id.startsWith('pj_') && isWhose(hint)) ||
  (hint.about === 'queue' && isWhose(hint))

const isWhose = ({ tenant, queue }: { readonly tenant: unknown; readonly queue: unknown }): boolean =>
  typeof tenant === 'string' && typeof queue === 'string'
