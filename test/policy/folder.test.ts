import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PolicyFolder } from '../../src/policy/folder.ts'
import { job } from './job.ts'

function placed() {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-policy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const lines: string[] = []
  const tell = (message: string, about?: object) => void lines.push(`${message} ${JSON.stringify(about)}`)
  const log = { info: tell, warn: tell, error: tell }
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  return { folder, lines, log, write, open: () => new PolicyFolder(folder, log) }
}

const allow = (id: string) => `rules:\n  - id: ${id}\n    decision: allow\n`

describe('the policy in a folder', () => {
  it('is every file in it but tables of cases, hidden ones and others', () => {
    const { write, open } = placed()
    write('a.yaml', allow('a'))
    write('b.json', '{"rules":[{"id":"b","decision":"deny","topics":["x"]}]}')
    write('a.cases.yaml', 'cases: []')
    write('.hidden.yaml', 'nothing')
    write('README.md', 'nothing')
    expect(open().snapshot?.rules.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('is refused at the beginning where it is broken, empty or not there', () => {
    const { folder, write, open, log } = placed()
    expect(open).toThrow(/has no rules/)
    write('a.yaml', 'rules: [')
    expect(open).toThrow(/a\.yaml:1:/)
    expect(() => new PolicyFolder(join(folder, 'nowhere'), log)).toThrow(/ENOENT/)
  })

  it('holds as it was changed, once it has stayed the same from one look to the next; meanwhile nothing is judged', () => {
    const { write, open, lines } = placed()
    write('a.yaml', allow('a'))
    const policy = open()
    const before = policy.snapshot?.hash
    policy.look()
    expect(policy.snapshot?.hash).toBe(before)
    write('b.yaml', 'rules:\n  - id: no-mail\n    topics: [mail.*]\n    decision: deny\n')
    policy.look()
    expect(policy.snapshot).toBeUndefined()
    policy.look()
    expect(policy.snapshot?.judge(job())).toMatchObject({ decision: 'deny', rule: 'no-mail' })
    expect(lines).toEqual([expect.stringMatching(/in force.*"rules":2/)])
  })

  it('never opens while it is broken, says where, and closes again behind whoever mends it', () => {
    const { write, open, lines } = placed()
    write('a.yaml', allow('a'))
    const policy = open()
    write('a.yaml', 'rules:\n  - id: a\n    decision: allow\n    when: job.tpye == "x"\n')
    for (let i = 0; i < 3; i += 1) policy.look()
    expect(policy.snapshot).toBeUndefined()
    expect(lines).toEqual([expect.stringMatching(/jobs wait.*a\.yaml:4:11/)])
    write('a.yaml', allow('b'))
    policy.look()
    policy.look()
    expect(policy.snapshot?.rules.map(({ id }) => id)).toEqual(['b'])
  })

  it('judges nothing once all of it is gone', () => {
    const { folder, write, open, lines } = placed()
    write('a.yaml', allow('a'))
    const policy = open()
    rmSync(join(folder, 'a.yaml'))
    for (let i = 0; i < 3; i += 1) policy.look()
    expect(policy.snapshot).toBeUndefined()
    rmSync(folder, { recursive: true })
    for (let i = 0; i < 3; i += 1) policy.look()
    expect(policy.snapshot).toBeUndefined()
    expect(lines.join()).toMatch(/has no rules.*ENOENT/)
  })
})
