/** `pawl policy …` on folders and on a store of its own. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { folder, json, pawl } from './pawl.ts'

const home = folder()
const env = { PAWL_URL: home.at('jobs.db'), USER: 'ann' }
const run = (...words: readonly string[]) => pawl(['policy', ...words], { env })
const told = <T = Record<string, unknown>>(...words: readonly string[]) => json<T>(['policy', ...words], { env })

const EXAMPLE = 'examples/policies'

afterAll(() => home[Symbol.dispose]())

function policy(name: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(home.at(name))
  for (const [file, text] of Object.entries(files)) writeFileSync(home.at(`${name}/${file}`), text)
  return home.at(name)
}

describe('pawl policy check', () => {
  it('tells the hash of a policy', async () => {
    const { stdout, code } = await run('check', EXAMPLE)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^5 rules, [0-9a-f]{32}\n$/)
  })

  it('tells every place where it is none, and exits with 1', async () => {
    const broken = policy('broken', {
      'a.yaml': 'rules:\n  - id: a\n    decision: alow\n  - id: b\n    decision: allow\n    when: job.tpye == ""\n',
      'b.yaml': 'rules: [',
    })
    const { stdout, code } = await run('check', broken)
    expect(code).toBe(1)
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/a\.yaml:3:15 rules\[0\]\.decision/),
      expect.stringMatching(/a\.yaml:6:11 rules\[1\]\.when/),
      expect.stringMatching(/b\.yaml:1:/),
    ])
    expect((await run('check', home.at('nowhere'))).code).toBe(3)
  })
})

describe('pawl policy test', () => {
  it('runs the tables beside the policy', async () => {
    const { stdout, code } = await run('test', EXAMPLE)
    expect(stdout).toBe('6 of 6 cases come to what they should.\n')
    expect(code).toBe(0)
  })

  it('tells what came of a case instead, and exits with 1', async () => {
    const wrong = policy('wrong', {
      'a.yaml': 'rules:\n  - id: a\n    decision: allow\n',
      'a.cases.yaml': 'cases:\n  - name: nobody\n    job: { type: x }\n    expect: { decision: deny }\n',
    })
    const { stdout, code } = await run('test', wrong)
    expect(stdout).toMatch(/a\.cases\.yaml:2 nobody: expected deny, got allow by a\n0 of 1/)
    expect(code).toBe(1)
    const broken = policy('broken-cases', {
      'a.yaml': 'rules:\n  - id: a\n    decision: allow\n',
      'a.cases.yaml': 'cases:\n  - name: nobody\n    job: {}\n    expect: { decision: deny }\n',
    })
    expect(await run('test', broken)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/a\.cases\.yaml:3:10 .*type or a topic/),
    })
  })
})

describe('pawl policy explain and simulate', () => {
  const chat = defineJob({ type: 'chat', admission: true, async run() {} })

  it('say what would become of jobs that are there, and change nothing', async () => {
    let ids: readonly string[]
    {
      await using store = await open(env.PAWL_URL, { ticker: false, retention: false, log: 'silent' })
      const enqueued = [
        await store.enqueue(chat, undefined, { topic: 'job.chat.simple' }),
        await store.enqueue(chat, undefined, { topic: 'job.code.llm' }),
        await store.enqueue(chat, undefined, { topic: 'job.code.llm' }),
      ]
      ids = enqueued.map(({ id }) => id)
      for (const job of enqueued.slice(0, 2)) await store.admit(job.id)
    }
    expect(await told('explain', EXAMPLE, ids[1] ?? '')).toMatchObject({
      judgement: { decision: 'deny', rule: 'sandboxed-code' },
      rules: [
        { rule: 'sandboxed-code', applies: 'yes' },
        { rule: 'code', applies: 'yes' },
      ],
    })
    expect((await run('explain', EXAMPLE, ids[0] ?? '')).stdout).toMatch(/^allow by chat \(policy/)
    expect(await told('simulate', EXAMPLE)).toMatchObject({
      jobs: 3,
      decisions: { allow: 1, deny: 2 },
      changes: [{ job: ids[1], was: 'let in', now: 'turned away', rule: 'sandboxed-code' }],
    })
    const open2 = policy('open', { 'a.yaml': 'rules:\n  - id: a\n    decision: allow\n' })
    expect(await told('simulate', open2, '--against', EXAMPLE, '-n', '2')).toMatchObject({
      jobs: 2,
      changes: [
        { job: ids[2], was: 'deny', now: 'allow', rule: 'a' },
        { job: ids[1], was: 'deny', now: 'allow', rule: 'a' },
      ],
    })
    const short = policy('short', {
      'a.yaml': 'rules:\n  - id: a\n    decision: allow\n  - id: b\n    decision: redirect\n    topic: job.cheap\n',
    })
    expect(await told('simulate', short, '-n', '2')).toMatchObject({
      changes: [{ job: ids[1], was: 'let in', now: 'let in', differs: [{ what: 'topic', now: 'job.cheap' }] }],
    })
    expect((await run('simulate', short, '--against', open2, '-n', '1')).stdout).toContain(
      'topic: none → job.cheap by b',
    )
    expect((await run('simulate', open2)).stdout).toMatch(/^3 jobs: 3 allow\. 0 would change\.\n$/)
  })
})

describe('pawl jobs approve', () => {
  const deploy = defineJob({ type: 'deploy', admission: true, async run() {} })
  const asking = policy('asking', {
    'a.yaml': 'rules:\n  - { id: all, decision: allow }\n  - { id: ask, decision: require_approval, fourEyes: true }\n',
  })
  const as = (USER: string, ...words: readonly string[]) => pawl(words, { env: { ...env, USER } })

  it('is another’s than who has enqueued it, says why, and lets it in by the policy', async () => {
    let id = ''
    {
      await using store = await open(env.PAWL_URL, { policy: asking, log: 'silent' })
      id = (await store.enqueue(deploy, undefined, { actor: 'cli:ann' })).id
      await eventually('somebody is asked', async () => (await store.get(id))?.approval !== undefined)
    }
    expect((await as('bob', 'jobs', 'approve', 'pj_nobody')).code).toBe(3)
    const own = await as('ann', '--yes', 'jobs', 'approve', id)
    expect(own.code).toBe(4)
    expect(own.stderr).toContain('another pair of eyes than those of cli:ann')
    expect((await as('ann', 'jobs', 'admit', id)).code).toBe(4)
    const { code } = await as('bob', '--yes', 'jobs', 'approve', id, '--reason', 'looked at the diff')
    expect(code).toBe(0)
    expect((await as('bob', 'jobs', 'approve', id)).code).toBe(4)
    await using store = await open(env.PAWL_URL, { policy: asking, log: 'silent' })
    await eventually('it is let in', async () => (await store.get(id))?.state === 'queued')
    expect(await store.events(id)).toContainEqual(
      expect.objectContaining({ type: 'approved', actor: 'cli:bob', payload: { reason: 'looked at the diff' } }),
    )
  })

  it('is of what was looked at: by its hashes, or by a word that is asked for; what has come since is not approved', async () => {
    const pay = defineJob({
      type: 'pay',
      admission: true,
      dedupe: { key: () => 'the one', onDuplicate: 'replace' },
      run: (_: { cents: number }) => undefined,
    })
    await using store = await open(env.PAWL_URL, { policy: asking, log: 'silent' })
    const { id } = await store.enqueue(pay, { cents: 100 }, { actor: 'cli:ann' })
    const asked = async (than?: string) => {
      await eventually('somebody is asked', async () => {
        const { approval } = (await store.get(id)) ?? {}
        return approval !== undefined && approval.jobHash !== than
      })
      return (await store.get(id))?.approval
    }
    const looked = await asked()
    const named = ['--job-hash', looked?.jobHash ?? '', '--policy-hash', looked?.policyHash ?? '']
    const command = `pawl jobs approve ${id} ${named.join(' ')}`
    expect((await as('bob', 'jobs', 'show', id)).stdout).toContain(command)
    expect((await as('bob', 'explain', id)).stdout).toContain(command)
    await store.enqueue(pay, { cents: 1_000_000 }, { actor: 'cli:ann' })
    await asked(looked?.jobHash)
    const late = await as('bob', 'jobs', 'approve', id, ...named)
    expect(late.code).toBe(4)
    expect(late.stderr).toContain('What is asked for now is about')
    const unasked = await as('bob', 'jobs', 'approve', id)
    expect(unasked.code).toBe(2)
    expect(unasked.stdout).toMatch(/rule +ask\n.*"cents": 1000000/s)
    expect(unasked.stderr).toContain('Name what you have looked at')
    // One of two is no name for both.
    expect((await as('bob', '--yes', 'jobs', 'approve', id, ...named.slice(0, 2))).code).toBe(4)
    expect((await store.get(id))?.approval?.given).toBeUndefined()
    const { jobHash = '', policyHash = '' } = (await store.get(id))?.approval ?? {}
    expect((await as('bob', 'jobs', 'approve', id, '--job-hash', jobHash, '--policy-hash', policyHash)).code).toBe(0)
  })
})
