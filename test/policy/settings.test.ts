/** Policies that tenants have set: taken if they are some, read by every scheduler, and narrower than files where there are files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { type OpenOptions, open, openOn } from '../../src/open.ts'
import { Layered } from '../../src/policy/layered.ts'
import { compile } from '../../src/policy/policy.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import { realClock } from '../../src/system/clock.ts'
import { eventually } from '../support/eventually.ts'
import { job } from './job.ts'

const chat = defineJob({ type: 'chat', admission: true, async run() {} })
const ALLOW = 'rules:\n  - { id: all, decision: allow }\n'
const DENY = 'rules:\n  - { id: none, decision: deny, reason: Not today. }\n'

function folder(text: string): string {
  const path = mkdtempSync(join(tmpdir(), 'pawl-settings-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  writeFileSync(join(path, 'a.yaml'), text)
  return path
}

/** Two processes over one file: one that is spoken to, and one that judges. */
async function judging(policy: string, more: OpenOptions = {}) {
  const home = mkdtempSync(join(tmpdir(), 'pawl-settings-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const at = join(home, 'jobs.db')
  const own = { ticker: false, retention: false, log: 'silent' } as const
  const front = await open(at, { ...own, actor: 'ann' })
  onTestFinished(() => front.close())
  const scheduler = await open(at, { ...own, policy, ...more })
  onTestFinished(() => scheduler.close())
  return { front, scheduler, at }
}

async function fate(pawl: Pawl, topic = 'job.chat.simple', tenant?: string) {
  const { id } = await pawl.enqueue(chat, undefined, { topic, tenant })
  const found = await eventually('a judgement', async () => {
    const now = await pawl.get(id)
    return now?.state === 'pending' ? undefined : now
  })
  const last = (await pawl.events(id)).find(({ type }) => type === 'admitted' || type === 'denied')
  return { state: found.state, reason: last?.reason, payload: last?.payload }
}

describe('a policy that is set', () => {
  it('holds in every process that judges by settings, is replaced while they run, and denies all once it is gone', async () => {
    const { front } = await judging('settings:')
    expect(await fate(front)).toMatchObject({ state: 'denied', reason: 'no_rule' })
    const first = await front.policies.set('chat', ALLOW)
    expect(first).toMatchObject({ name: 'chat', text: ALLOW, rev: 1, by: 'ann', faults: [] })
    await eventually('it holds', async () => (await fate(front)).state === 'queued')
    await front.policies.set('chat', DENY, { rev: 1 })
    await eventually('the other holds', async () => (await fate(front)).reason === 'chat/none')
    expect(await front.policies.rm('chat', { rev: 2 })).toBe(true)
    await eventually('none holds', async () => (await fate(front)).reason === 'no_rule')
  })

  it('is taken only if it is a policy, and says every place where it is none', async () => {
    await using pawl = await open('memory:', { ticker: false, retention: false, log: 'silent' })
    await pawl.policies.set('chat', ALLOW)
    const text = 'rules:\n  - id: a\n    decision: alow\n  - id: b\n    decision: allow\n    when: job.tpye == ""\n'
    await expect(pawl.policies.set('chat', text)).rejects.toMatchObject({
      name: 'Invalid',
      violations: [
        { field: 'text', rule: expect.stringMatching(/^chat:3:15 rules\[0\]\.decision/) },
        { field: 'text', rule: expect.stringMatching(/^chat:6:11 rules\[1\]\.when/) },
      ],
    })
    const refused: readonly (readonly [string, string, string])[] = [
      ['chat', 'rules: []', 'has no rules'],
      ['chat', 'rules: [', 'chat:1:'],
      ['chat', 'rules:\n  - { id: a, decision: allow, tenants: [globex] }\n', 'is for other tenants'],
      ['x'.repeat(61), ALLOW, '1 to 60 letters'],
      ['..', ALLOW, 'no path can carry'],
      ['chat', `${ALLOW}${'#'.repeat(50_001)}`, 'at most 50000 letters'],
    ]
    for (const [name, broken, rule] of refused)
      await expect(pawl.policies.set(name, broken), rule).rejects.toThrow(rule)
    expect(await pawl.policies.list()).toMatchObject([{ name: 'chat', text: ALLOW, rev: 1 }])
  })

  it('is replaced only by who has seen it, where they say so; the same text again changes nothing', async () => {
    await using pawl = await open('memory:', { ticker: false, retention: false, log: 'silent' })
    await expect(pawl.policies.set('chat', ALLOW, { rev: 1 })).rejects.toMatchObject({ code: 'REV_CONFLICT' })
    await pawl.policies.set('chat', ALLOW, { rev: 0 })
    expect(await pawl.policies.set('chat', ALLOW, { rev: 0 })).toMatchObject({ rev: 1 })
    await expect(pawl.policies.set('chat', DENY, { rev: 0 })).rejects.toThrow('Policy chat is at revision 1.')
    await expect(pawl.policies.rm('chat', { rev: 7 })).rejects.toMatchObject({ refusal: { rev: 1 } })
    const racing = await Promise.allSettled([
      pawl.policies.set('chat', DENY, { rev: 1 }),
      pawl.policies.set('chat', `${DENY}# another\n`, { rev: 1 }),
    ])
    expect(racing.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await pawl.policies.rm('nobody')).toBe(false)
    expect(await pawl.policies.get('nobody')).toBeUndefined()
  })

  it('narrows what files allow, and never widens it', async () => {
    const files = 'rules:\n  - { id: chat, topics: [job.chat.*], decision: allow }\n'
    const { front } = await judging(folder(files))
    await front.policies.set('mine', `${ALLOW}  - { id: no, topics: [job.chat.loud], decision: deny }\n`)
    await eventually('it holds', async () => (await fate(front, 'job.chat.loud')).reason === 'mine/no')
    expect(await fate(front, 'job.chat.simple')).toMatchObject({ state: 'queued', reason: 'chat' })
    expect(await fate(front, 'job.video.render')).toMatchObject({ state: 'denied', reason: 'no_rule' })
  })

  it('is for the jobs of its own tenant', async () => {
    const { front } = await judging(folder(ALLOW))
    await front.policies.set('mine', DENY, { tenant: 'acme' })
    await eventually('it holds', async () => (await fate(front, 'job.a', 'acme')).reason === 'mine/none')
    expect(await fate(front, 'job.a', 'globex')).toMatchObject({ state: 'queued' })
    expect(await front.policies.list({ tenant: 'globex' })).toEqual([])
    expect(await front.policies.get('mine', { tenant: 'globex' })).toBeUndefined()
    expect(await front.policies.rm('mine', { tenant: 'globex' })).toBe(false)
  })

  it('that is broken in the store lets nobody of its tenant in, says where, and holds up nobody else', async () => {
    const lines: string[] = []
    const log = { info() {}, warn() {}, error: (_: string, about?: object) => void lines.push(JSON.stringify(about)) }
    const { front, at } = await judging(folder(ALLOW), { log })
    const write = (text: string) =>
      front.engine.settings([
        { op: 'put', collection: 'policy', key: '["acme","mine"]', text, rev: undefined },
        { op: 'put', collection: 'policy', key: 'notch', text: '{}', rev: undefined },
      ])
    for (const text of [JSON.stringify({ text: 'rules:\n  - { id: a, decision: perhaps }\n' }), 'no json']) {
      await write(text)
      await eventually('it is told', () => lines.find((line) => line.includes('mine:')))
      const { id } = await front.enqueue(chat, undefined, { tenant: 'acme' })
      expect(await fate(front, 'job.a', 'globex')).toMatchObject({ state: 'queued' })
      expect((await front.get(id, { tenant: 'acme' }))?.state).toBe('pending')
      const [{ faults } = { faults: [] }] = await front.policies.list({ tenant: 'acme' })
      expect(faults).toHaveLength(1)
      lines.length = 0
    }
    expect(at).toContain('jobs.db')
    await front.policies.set('mine', DENY, { tenant: 'acme' })
    await eventually('it holds', async () => (await fate(front, 'job.a', 'acme')).reason === 'mine/none')
  })

  it('voids approvals that another asked for', async () => {
    const { front } = await judging('settings:')
    await front.policies.set('mine', 'rules:\n  - { id: ask, decision: require_approval }\n')
    const { id } = await eventually('it asks', async () => {
      const made = await front.enqueue(chat, undefined)
      return await eventually('a word', async () => {
        const now = await front.get(made.id)
        return now?.approval !== undefined || now?.state === 'denied' ? now : undefined
      }).then((now) => (now.approval === undefined ? undefined : made))
    })
    const asked = (await front.get(id))?.approval
    await front.policies.set('mine', 'rules:\n  - { id: ask-two, decision: require_approval }\n')
    await eventually('the other holds', async () => {
      const made = await front.enqueue(chat, undefined)
      return await eventually('a word', async () => (await front.get(made.id))?.approval).then(
        ({ rule }) => rule === 'mine/ask-two',
      )
    })
    await front.approve(id, { actor: 'bob' })
    await eventually('it is asked for anew', async () => {
      const now = (await front.get(id))?.approval
      return now?.policyHash !== asked?.policyHash && now?.given === undefined
    })
  })

  it('is written down by who and when, before it is done', async () => {
    await using pawl = openOn(openMemoryStore({ clock: realClock }), { log: 'silent', actor: 'ann' })
    await pawl.policies.set('chat', ALLOW)
    await expect(pawl.policies.set('chat', 'rules: [')).rejects.toThrow()
    await pawl.policies.rm('chat')
    const [read] = await pawl.engine.settings([{ op: 'list', collection: 'audit', after: '', limit: 10 }])
    const acts = (read?.settings ?? []).map(
      ({ text }) => JSON.parse(text) as { readonly act?: string; readonly by?: string },
    )
    expect(acts.filter(({ act }) => act !== undefined).map(({ act, by }) => [act, by])).toEqual([
      ['policy.set', 'ann'],
      ['policy.removed', 'ann'],
    ])
  })
})

describe('files and what is set, together', () => {
  const of = (text: string, owner?: string) => {
    const compiled = compile([{ name: 'p', text }], owner)
    if ('faults' in compiled) throw new Error(JSON.stringify(compiled.faults))
    return compiled.snapshot
  }
  const layered = (files: string, own: string) => new Layered(of(files), of(own, 'default'))
  const judged = (files: string, own: string, topic = 'job.a') => layered(files, own).judge(job({ topic }))

  it('ask for all that either asks for, in the word of the stricter', () => {
    const files = 'rules:\n  - { id: f, decision: constrain, constrain: { timeout: 30s, attempts: 3 } }\n'
    const own =
      'rules:\n  - { id: o, decision: require_approval }\n  - { id: n, decision: constrain, constrain: { timeout: 1m, attempts: 1 } }\n'
    expect(judged(files, own)).toMatchObject({
      decision: 'require_approval',
      rule: 'p/o',
      constraint: { timeout: 30_000, attempts: 1 },
    })
    expect(judged(files, own).policyHash).toBe(layered(files, own).hash)
    expect(layered(files, own).hash).not.toBe(of(files).hash)
  })

  it('send a job where the files say, else where is set, and judge it there by both', () => {
    const to = (id: string, topic: string) =>
      `  - { id: ${id}, topics: [job.a], decision: redirect, topic: ${topic} }\n`
    const base = 'rules:\n  - { id: all, decision: allow }\n'
    expect(judged(base + to('f', 'job.f'), `rules:\n${to('o', 'job.o')}`).redirects).toMatchObject([{ to: 'job.f' }])
    expect(judged(base, `rules:\n${to('o', 'job.o')}`).redirects).toMatchObject([{ to: 'job.o', rule: 'p/o' }])
    const shut = `${base}  - { id: shut, topics: [job.o], decision: deny }\n`
    expect(judged(shut, `rules:\n${to('o', 'job.o')}`)).toMatchObject({ decision: 'deny', rule: 'shut' })
    const ownShut = `rules:\n  - { id: shut, topics: [job.f], decision: deny }\n`
    expect(judged(base + to('f', 'job.f'), ownShut)).toMatchObject({ decision: 'deny', rule: 'p/shut' })
  })

  it('route by the files, and by what is set where those name no pool', () => {
    const files = (routes: string) => `rules:\n  - { id: all, decision: allow }\n${routes}`
    const own = 'rules:\n  - { id: all, decision: allow }\nroutes:\n  - { id: r, topics: [job.a], pool: mine }\n'
    const route = (routes: string, topic?: string) => judged(files(routes), own, topic)
    expect(route('').route).toMatchObject({ id: 'p/r', pool: ['mine'] })
    expect(route('', 'job.b')).toMatchObject({ decision: 'allow', route: undefined })
    expect(route('routes:\n  - { id: f, pool: theirs }\n').route).toMatchObject({ id: 'f' })
    expect(route("routes:\n  - { id: rest, topics: ['>'] }\n").route).toMatchObject({ id: 'p/r' })
    expect(route('routes:\n  - { id: f, topics: [job.b], pool: b }\n')).toMatchObject({ rule: 'no_route' })
  })
})
