/** For how long `pawl serve` and `pawl work` keep what has ended, as their flags say. */
import { resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { retentionOf } from '../../src/cli/keep.ts'
import { defineJob, open, PermanentError } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { folder, pawl, started } from './pawl.ts'

const home = folder()
afterAll(() => home[Symbol.dispose]())

const MODULE = resolve('test/cli/keep.test.ts')
const DAY = 86_400_000

describe('--keep', () => {
  it('says how long jobs, logs and bodies are kept, and which types and states are different', () => {
    const keep = [
      ...['succeeded=30d', 'ended=90d', 'logs=1d12h', 'logs:crawl=2h', 'bodies=7d', 'bodies:mail.send=0s'],
      ...['bodies:a=b=1h', 'bodies:a:b=2h'],
    ]
    expect(retentionOf({ keep, bodiesEvenOf: 'failed,dead_lettered' })).toEqual({
      succeededMs: 30 * DAY,
      endedMs: 90 * DAY,
      verboseMs: 1.5 * DAY,
      verboseMsByType: { crawl: DAY / 12 },
      bodiesMs: 7 * DAY,
      bodiesMsByType: { 'mail.send': 0, 'a=b': DAY / 24, 'a:b': DAY / 12 },
      bodiesEvenOf: ['failed', 'dead_lettered'],
    })
    const silent = retentionOf({})
    expect(JSON.stringify(silent), 'as somebody who says nothing, whose place another may take').toBe('{}')
    expect(retentionOf({ retention: false })).toBe(false)
  })

  it('removes the bodies it names and no others, once pawl serve runs', async () => {
    const file = home.at('jobs.db')
    const [mail, crawl] = ['mail', 'crawl'].map((type) => defineJob({ type, run: (input: string) => `${input}!` }))
    const doomed = defineJob({
      type: 'mail.doomed',
      run: () => {
        throw new PermanentError('no such mailbox')
      },
    })
    if (mail === undefined || crawl === undefined) throw new Error('there are two')
    await using pawl = await open(file, { retention: false, log: 'silent' })
    await using _worker = pawl.work([mail, crawl, doomed])
    const ids = await Promise.all([mail, crawl, doomed].map(async (job) => (await pawl.enqueue(job, 'a')).id))
    const [gone, kept, redrivable] = ids
    await eventually(
      'all to have ended',
      async () => (await pawl.find({ states: ['succeeded', 'failed'] })).jobs.length === 3,
    )
    const flags = '--no-auth --port 0 --json --keep bodies:mail=0s --keep bodies:mail.doomed=0s'.split(' ')
    await using serving = started(['serve', ...flags, '--url', file])
    const { url } = JSON.parse(await serving.line(/url/)) as { readonly url: string }
    const status = async (id = '') => (await fetch(`${url}/v1/jobs/${id}/result`)).status
    await eventually('the body to be gone', async () => (await status(gone)) === 410)
    expect([await status(kept), await pawl.body(redrivable ?? '', 'input')]).toEqual([200, expect.anything()])
  })

  it.each([
    ['bodies=soon', 'wants a duration'],
    ['bodies', 'wants a duration'],
    ['bodys=1d', 'Did you mean bodies?'],
    ['succeeded:mail=1d', 'There is no thing to keep by type succeeded'],
    ['bodies=4000d', 'must be a duration from 0'],
    ['bodies=1d --keep bodies=2d', 'says twice how long bodies are kept'],
    ['bodies=1d --no-retention', 'With --no-retention nothing is removed'],
    ['succeeded=1d --bodies-even-of failed', '--keep bodies=30d'],
    ['bodies=1d --bodies-even-of succeeded', 'There is no state to redrive from succeeded'],
    ['bodies=1d --role gateway', 'Add --role reconciler'],
  ])('%s is refused: %s', async (words, said) => {
    const { code, stderr } = await pawl(['serve', '--url', home.at('never.db'), '--keep', ...words.split(' ')])
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)])
  })

  it('is for the gateway where a worker is behind one', async () => {
    const { code, stderr } = await pawl(['work', MODULE, '--keep', 'bodies=1d', '--url', 'http://127.0.0.1:9'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('Say --keep to pawl serve')])
  })
})
