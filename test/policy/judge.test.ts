import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Present } from '../../src/core/admission.ts'
import { PolicyFolder } from '../../src/policy/folder.ts'
import { PolicyJudge } from '../../src/policy/judge.ts'
import { PolicySettings } from '../../src/policy/settings.ts'
import { silentLog } from '../../src/system/log.ts'
import { given } from '../core/given.ts'

const RULES = 'rules:\n  - id: all\n    decision: allow\n'

/** A store in which nobody has set anything. */
const NO_SETTINGS = { settings: async () => [] }

function judging(routes: string) {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-judge-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'a.yaml'), RULES + routes)
  const judge = new PolicyJudge(new PolicyFolder(folder, silentLog), new PolicySettings(NO_SETTINGS, silentLog))
  const asked: string[] = []
  const job = given({ admission: true }, { topic: 'job.code.llm', adapterId: 'llama' }).record
  const word = async (present: readonly Present[] | undefined) =>
    judge.judge(job, async (tenant) => {
      asked.push(tenant)
      return present
    })
  return { asked, word }
}

describe('the judge of a policy with routes', () => {
  it('sends a job where its route says, and asks who is there only where that decides', async () => {
    const { asked, word } = judging('routes:\n  - { id: code, topics: [job.code.*], pool: code, requires: [gpu] }\n')
    expect(await word([])).toMatchObject({ letsIn: true, route: { pool: 'code', capabilities: ['gpu'] } })
    expect(asked).toEqual([])
  })

  it('asks who is there of the job’s own tenant, and takes the adapter for a hint', async () => {
    const { asked, word } = judging('routes:\n  - { id: code, pool: [a, b] }\n')
    const present = [
      { pool: 'a', can: [] },
      { pool: 'b', can: ['llama'] },
    ]
    expect(await word(present)).toMatchObject({ route: { pool: 'b' } })
    expect(await word(undefined)).toMatchObject({ route: { pool: 'a' } })
    expect(asked).toEqual(['acme', 'acme'])
  })

  it('turns away what nobody can do where the route says so, and what no route takes', async () => {
    const nobody = judging('routes:\n  - { id: code, pool: code, nobody: deny }\n')
    expect(await nobody.word([])).toMatchObject({ letsIn: false, rule: 'code', reason: 'No live worker in pool code.' })
    const unrouted = judging('routes:\n  - { id: chat, topics: [job.chat.*] }\n')
    expect(await unrouted.word([])).toMatchObject({ letsIn: false, rule: 'no_route' })
  })
})
