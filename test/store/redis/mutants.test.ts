import { afterAll, beforeAll, expect, it } from 'vitest'
import { conformance } from '../../../src/store/conformance/conformance.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { type ScriptName, scriptTexts } from '../../../src/store/redis/script/scripts.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { RealSetups } from '../conformance/real-clock.ts'

/** A comparison of a script that is left out, the promise it is for, and a case that notices. */
interface Mutant {
  readonly promise: string
  readonly script: ScriptName
  readonly from: string
  readonly to: string
  readonly noticedBy: RegExp
}

const MUTANTS: Readonly<Record<string, Mutant>> = {
  'gives from a paused queue': {
    promise: 'S3',
    script: 'claim',
    from: 'if paused[queue] == 0 then',
    to: 'if true then',
    noticedBy: /paused queue gives nothing/,
  },
  'gives what is over': {
    promise: 'S3',
    script: 'claim',
    from: '(tonumber(job.tick) or now + 1) > now',
    to: 'true',
    noticedBy: /whose time is over/,
  },
  'leaves what it gave in its lane': {
    promise: 'S3',
    script: 'claim',
    from: 'leave_lane(queue, lane, ids)',
    to: '',
    noticedBy: /order asked/,
  },
  'does not compare revisions': {
    promise: 'S4',
    script: 'commit',
    from: 'if not job or job.rev ~= rev then',
    to: 'if not job then',
    noticedBy: /from an old revision/,
  },
  'does not look at the clock': {
    promise: 'S4',
    script: 'commit',
    from: "not_after ~= '-' and now >= tonumber(not_after)",
    to: 'false',
    noticedBy: /after its time is late/,
  },
  'takes a key that another holds': {
    promise: 'S4',
    script: 'commit',
    from: 'local why = more and obstacle(id, more)',
    to: 'local why',
    noticedBy: /whose key somebody else holds/,
  },
  'renews under any fence': {
    promise: 'S5',
    script: 'heartbeat',
    from: 'if not job or job.fence ~= fence then',
    to: 'if not job or not job.fence then',
    noticedBy: /one by one|compared whole/,
  },
  'renews a lease that has ended': {
    promise: 'S5',
    script: 'heartbeat',
    from: 'local is_over = now >= tonumber(job.expires)',
    to: 'local is_over = false',
    noticedBy: /of a job that is/,
  },
  'forgets what a claim was given': {
    promise: 'S9',
    script: 'claim',
    from: 'if granted then',
    to: 'if false then',
    noticedBy: /a claim repeated/,
  },
  'meets nobody by a key': {
    promise: 'S11',
    script: 'insert',
    from: 'if holder then',
    to: 'if false then',
    noticedBy: /./,
  },
  'frees no slot': {
    promise: 'S18',
    script: 'commit',
    from: '    free_slots(id, rev)',
    to: '',
    noticedBy: /on the way to succeeded/,
  },
  'counts no slot': {
    promise: 'S18',
    script: 'look',
    from: 'return { text(taken), text(taken_since)',
    to: "return { '0', '0'",
    noticedBy: /a limit that is lowered/,
  },
  'tells nobody that a queue was paused': {
    promise: 'S18',
    script: 'settings',
    from: "stir('q' .. key)",
    to: '',
    noticedBy: /a paused queue gives its slots back/,
  },
  'swaps without comparing': {
    promise: 'S12',
    script: 'settings',
    from: "if rev ~= '-' and rev ~= rev_of(there) then",
    to: 'if false then',
    noticedBy: /./,
  },
}

describeOnRedis('the suite notices a script that', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis(['--appendfsync', 'no'])
  })
  afterAll(() => server.stop())

  it.each(Object.entries(MUTANTS))('%s', async (name, { promise, script, from, to, noticedBy }) => {
    const texts = scriptTexts()
    expect(texts[script], 'there is something to leave out').toContain(from)
    const scripts = { ...texts, [script]: texts[script].replace(from, to) }
    let setBy = 0
    const prefix = `m${Object.keys(MUTANTS).indexOf(name)}`
    await using setups = new RealSetups({
      open: () => openRedisStore({ url: server.url, prefix, scripts, clockSetByMs: () => setBy }),
      setClock: async (byMs) => {
        setBy += byMs
      },
    })
    const cases = conformance({ name, cannot: { transaction: 'another server' }, open: setups.open })
    const failed: string[] = []
    for (const each of cases) {
      if (each.promise !== promise || each.skipped !== undefined || !noticedBy.test(each.name)) continue
      await each.run().catch(() => failed.push(each.name))
      if (failed.length > 0) break
    }
    expect(failed).not.toEqual([])
  })
})
