/** The roles of document 002 as processes of their own on one store, and what `pawl serve` makes of a policy. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { folder, json, pawl, started } from './pawl.ts'

const home = folder()
const file = home.at('jobs.db')
const policies = home.at('policies')
mkdirSync(policies)
const write = (text: string) => writeFileSync(`${policies}/a.yaml`, text)
const CHAT = 'rules:\n  - id: chat\n    topics: [job.chat.*]\n    decision: allow\n'
write(CHAT)

afterAll(() => home[Symbol.dispose]())

interface Entry {
  readonly type: string
  readonly actor: string
  readonly reason?: string
}

const states = async (url: string, id: string) => {
  const answer = await fetch(`${url}/v1/jobs/${id}/events`)
  return ((await answer.json()) as { readonly events: readonly Entry[] }).events
}

async function submitted(url: string, job_id: string, topic: string): Promise<void> {
  const answer = await fetch(`${url}/v1/dialects/002/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ job_id, topic, context_ptr: 's3://bucket/in' }),
  })
  expect([answer.status, ((await answer.json()) as { readonly state: string }).state]).toEqual([201, 'PENDING'])
}

const ended = (url: string, id: string, type: string) =>
  eventually(`${id} to be ${type}`, async () => (await states(url, id)).find((entry) => entry.type === type))

describe('the roles of a platform', () => {
  it('are processes of their own, two schedulers among them: the gateway accepts, a scheduler judges', async () => {
    await using gateway = started([...'serve --role gateway --no-auth --port 0 --json --url'.split(' '), file])
    const { url } = JSON.parse(await gateway.line(/url/)) as { readonly url: string }
    await submitted(url, 'early', 'job.chat.simple')
    const judging = ['serve', '--role', 'scheduler', '--json', '--policy', policies, '--url', file]
    await using one = started(judging)
    await using two = started(judging)
    await using reconciler = started(['serve', '--role', 'reconciler', '--json', '--url', file])
    for (const each of [one, two]) expect(JSON.parse(await each.line(/roles/))).toMatchObject({ roles: ['scheduler'] })
    await reconciler.line(/reconciler/)
    await submitted(url, 'late', 'job.video.render')
    expect(await ended(url, 'early', 'admitted')).toMatchObject({ actor: 'system:scheduler', reason: 'chat' })
    expect(await ended(url, 'late', 'denied')).toMatchObject({
      actor: 'system:scheduler',
      reason: 'no_rule',
      cause: 'policy_violation',
    })
    for (const each of [one, two, reconciler]) {
      each.child.kill('SIGTERM')
      expect((await each.ended).code).toBe(0)
    }
  })

  it('are all of them in one process: another policy holds without a restart, a broken one lets nobody in', async () => {
    await using all = started([
      ...'serve --no-auth --log --port 0 --json --policy'.split(' '),
      policies,
      '--url',
      home.at('all.db'),
    ])
    const { url } = JSON.parse(await all.line(/url/)) as { readonly url: string }
    await submitted(url, 'a', 'job.chat.simple')
    await ended(url, 'a', 'admitted')
    write('rules:\n  - id: chat\n    topics: [job.chat.*]\n    decision: alow\n')
    await submitted(url, 'b', 'job.chat.simple')
    write(CHAT.replace('allow', 'deny'))
    expect(await ended(url, 'b', 'denied')).toMatchObject({ reason: 'chat' })
  })

  it('are refused where they make no sense, and a policy where it is broken', async () => {
    const refused = async (...words: readonly string[]) => {
      const { code, stderr } = await pawl(['serve', '--url', file, ...words])
      expect(code).toBe(2)
      return stderr
    }
    expect(await refused('--role', 'schedular')).toContain('Did you mean scheduler?')
    expect(await refused('--role', 'scheduler')).toContain('--policy policies/')
    expect(await refused('--role', 'gateway', '--policy', policies)).toContain('--role scheduler')
    write('rules:\n  - id: a\n    decision: alow\n')
    expect(await refused('--policy', policies)).toMatch(/a\.yaml:3:15 rules\[0\]\.decision/)
    expect(await refused('--policy', home.at('nowhere'))).toContain('ENOENT')
    write(CHAT)
    expect(await json(['policy', 'check', policies])).toMatchObject({ ok: true, rules: 1 })
  })
})
