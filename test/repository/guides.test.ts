/** What the pages of `docs/` show compiles. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesLike } from '../support/source.ts'
import { filesOf } from './guide.ts'

const PAGES = filesLike('docs/*.md')

/** The entries of the package, from the sources. */
function paths(): Record<string, readonly string[]> {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly default: string } | string>>
  }
  const entries = Object.entries(exports).flatMap(([name, entry]) =>
    typeof entry === 'string'
      ? []
      : [[name.replace(/^\./, 'pawl'), [resolve(entry.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'))]] as const],
  )
  return Object.fromEntries(entries)
}

function check(programs: ReadonlyMap<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-guides-'))
  try {
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    for (const [name, text] of programs) {
      mkdirSync(join(folder, dirname(name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const compilerOptions = {
      paths: paths(),
      noUnusedLocals: false,
      noPropertyAccessFromIndexSignature: false,
      rootDir: '/',
      types: ['node'],
    }
    const config = { extends: resolve('tsconfig.json'), compilerOptions, include: [], files: [...programs.keys()] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    return spawnSync(resolve('node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' }).stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the guides', () => {
  const programs = new Map(
    PAGES.flatMap((page) =>
      [...filesOf(page)].map(([name, text]) => [`${basename(page, '.md')}/${name}`, text] as const),
    ),
  )

  it('show what compiles', () => {
    expect([...programs.keys()]).toEqual(
      expect.arrayContaining([
        'getting-started/jobs.ts',
        'getting-started/main.ts',
        ...['jobs', 'transactions', 'testing', 'embedding'].map((page) => `${page}/page.ts`),
      ]),
    )
    expect(check(programs)).toBe('')
  })

  it('would be found out', () => {
    expect(
      check(new Map([['wrong.ts', `import { open } from 'pawl'\nawait open('memory:', { migrat: true })\n`]])),
    ).toMatch(/wrong\.ts\(2,.*migrat/)
  })

  it('link to pages and places that are there', () => {
    const lost = PAGES.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\(([a-z-]+\.md)(?:#[\w-]+)?\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !PAGES.includes(`docs/${link}`))
        .map((link) => `${page} links to ${link}`),
    )
    expect(lost).toEqual([])
  })
})
