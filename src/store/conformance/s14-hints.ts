/** S14: hints may be lost, never the work. */
import type { JobId } from '../../core/job.ts'
import type { Hint } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { Saying, StoreFixture } from './store-fixture.ts'

export const hints: readonly Check[] = [
  {
    name: 'new work and the end of a job are announced',
    needs: 'hints',
    async run(fixture) {
      const heard: Hint[] = []
      await using _subscription = await fixture.store.subscribe((hint) => heard.push(hint))
      const isAnything = (hint: Hint) => hint.about === 'anything'
      // A hint may be lost, but not every one of many.
      await fixture.eventually('new work is announced', async () => {
        await fixture.insertOne()
        const mine = (hint: Hint) => hint.about === 'queue' && hint.tenant === fixture.tenant && hint.queue === 'main'
        return heard.some((hint) => isAnything(hint) || mine(hint))
      })
      heard.length = 0
      await fixture.eventually('the end of a job is announced', async () => {
        const job = await fixture.insertOne()
        heard.length = 0
        await fixture.say(job, { type: 'cancel', mode: 'hard' })
        await fixture.setup.advance(50)
        return heard.some((hint) => isAnything(hint) || (hint.about === 'job' && hint.id === job.id))
      })
    },
  },
  {
    name: 'an owner is told when it is asked to cancel, and when the job is taken from it, whoever did that',
    needs: 'hints',
    async run(fixture) {
      const heard: Hint[] = []
      await using _subscription = await fixture.store.subscribe((hint) => heard.push(hint))
      const other = await fixture.another()
      const isAbout = (id: JobId) => (hint: Hint) =>
        hint.about === 'anything' || (hint.about === 'job' && hint.id === id)
      for (const store of [fixture.store, other]) {
        for (const [what, saying] of AGAINST_ITS_OWNER) {
          await fixture.eventually(`a ${what} is announced`, async () => {
            const job = await fixture.claimed({ type: what })
            const change = fixture.change(job, saying, await fixture.now())
            // What the claim itself has announced arrives first, and is forgotten: only the change may be what is heard.
            await fixture.setup.advance(50)
            heard.length = 0
            same((await store.commit([change])).verdicts, [{ status: 'applied' }], `a ${what} is applied`)
            await fixture.eventually('it is heard of', () => heard.some(isAbout(job.id)), 1_000).catch(() => {})
            return heard.some(isAbout(job.id))
          })
        }
      }
    },
  },
  {
    name: 'what another process does is announced too',
    needs: 'hints',
    async run(fixture) {
      const heard: Hint[] = []
      await using _subscription = await fixture.store.subscribe((hint) => heard.push(hint))
      const other = await fixture.another()
      await fixture.eventually('new work is announced', async () => {
        await other.insert([fixture.draft()])
        return heard.some(
          (hint) => hint.about === 'anything' || (hint.about === 'queue' && hint.tenant === fixture.tenant),
        )
      })
    },
  },
  {
    name: 'what a hint would announce is found by polling',
    async run(fixture) {
      const job = await fixture.insertOne()
      same((await fixture.claim()).jobs[0]?.before.id, job.id, 'without any subscription')
    },
  },
  {
    name: 'every hint is well formed, and after the subscription has ended there is none',
    async run(fixture) {
      const heard: Hint[] = []
      const first = await fixture.store.subscribe((hint) => heard.push(hint))
      const second = await fixture.store.subscribe(() => {})
      await work(fixture)
      await fixture.setup.advance(100)
      for (const hint of heard) holds(wellFormed(hint), `a hint: ${JSON.stringify(hint)}`)
      await first[Symbol.asyncDispose]()
      heard.length = 0
      await work(fixture)
      await fixture.setup.advance(100)
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

async function work(fixture: StoreFixture): Promise<void> {
  const job = await fixture.insertOne()
  await fixture.say(job, { type: 'cancel', mode: 'hard' })
}

const wellFormed = (hint: Hint): boolean =>
  hint.about === 'anything' ||
  (hint.about === 'job' && hint.id.startsWith('pj_') && isWhose(hint)) ||
  (hint.about === 'queue' && isWhose(hint))

const isWhose = ({ tenant, queue }: { readonly tenant: unknown; readonly queue: unknown }): boolean =>
  typeof tenant === 'string' && typeof queue === 'string'
