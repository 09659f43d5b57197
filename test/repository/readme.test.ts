import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesLike } from '../support/source.ts'

const readme = readFileSync('README.md', 'utf8')
const example = 'examples/readme.ts'

describe('the README', () => {
  it('shows the example that runs, word for word', () => {
    const shown = /```ts\n([\s\S]*?)```/.exec(readme)?.[1]
    expect(shown).toBe(readFileSync(example, 'utf8').replace("'../src/index.ts'", "'pawl'"))
  })

  it('has an example that runs from an empty folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-readme-'))
    try {
      const run = spawnSync(process.execPath, [resolve(example)], { cwd: folder, encoding: 'utf8', timeout: 60_000 })
      expect(run.stderr).toBe('')
      expect(run.stdout).toContain(`{ letter: 'Dear Ann, it costs 42 €.', approvedBy: 'Bob' }`)
      expect(run.stdout).toMatch(/succeeded running → succeeded\n$/)
      expect(run.status).toBe(0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('tells a newcomer to run nothing that a bare clone cannot run', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
    const prepares = (name: string) => scripts[name]?.startsWith('node scripts/prepare.mjs ') === true
    const commands = Object.keys(scripts).filter((name) => !name.startsWith('pre'))
    const unprepared = commands.filter((name) => !prepares(`pre${name}`))
    // Not one line with the preparation: its shell would go on with the Node it began with.
    expect(scripts['prepack']).toBe('npm run --silent build')
    expect(unprepared).toEqual([])
  })

  it('leads to every page there is', () => {
    expect(filesLike('docs/*.md').filter((page) => !readme.includes(page))).toEqual([])
  })

  it.each(['README.md', 'ARCHITECTURE.md'])('%s names only commands and files that exist', (page) => {
    const text = readFileSync(page, 'utf8')
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
    const commands = [...text.matchAll(/npm run (\w+)/g)].map(([, name = '']) => name)
    expect(commands.filter((name) => !(name in scripts))).toEqual([])
    const linked = [...text.matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, path = '']) => path)
    const quoted = [...text.matchAll(/`((?:src|test|docs|examples|scripts)\/[\w./-]*)`/g)].map(([, path = '']) => path)
    expect([...linked, ...quoted].filter((path) => !existsSync(path))).toEqual([])
  })
})
