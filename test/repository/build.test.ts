import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeTooOld } from '../../src/system/node-version.ts'
import { filesLike } from '../support/source.ts'
import { proveBundled } from './bundled.ts'
import { install, keptIn, machinesNode, proveInstalled } from './installed.ts'

interface Entry {
  readonly types: string
  readonly default: string
}

/** What is published is not what the other tests run: plain JavaScript, threads and files beside it included. */
describe('the package as it is published', () => {
  beforeAll(() => {
    const run = spawnSync(process.execPath, ['scripts/build.ts'], { encoding: 'utf8' })
    expect(`${run.stdout}${run.stderr}`).toMatch(/^build: \d+ modules/)
    expect(run.status).toBe(0)
  })

  it('has every file that its exports name', () => {
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, Entry | string> }
    const files = Object.values(exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : [entry.types, entry.default],
    )
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })

  it('imports nothing by its .ts name', () => {
    expect(readFileSync('dist/index.js', 'utf8')).not.toMatch(/from '[^']*\.ts'/)
  })

  it('has the source inside each source map: what it was made of is not in there', () => {
    const maps = filesLike('dist/**/*.map').map((path) => ({ path, map: JSON.parse(readFileSync(path, 'utf8')) }))
    expect(maps.length).toBeGreaterThan(100)
    const blind = maps.filter(({ map }) => map.sourcesContent?.length !== map.sources.length)
    expect(blind.map(({ path }) => path)).toEqual([])
  })

  it('has what its pages link to, and examples that import it by its name', () => {
    const packed = new Set(packedFiles())
    const pages = [...packed].filter((path) => /^(?:[A-Z]+|docs\/.*)\.md$/.test(path))
    expect(pages).toContain('README.md')
    const lost = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, link = '']) => posix.join(posix.dirname(page), link))
        .filter((path) => !packed.has(path))
        .map((path) => `${page} links to ${path}`),
    )
    expect(lost).toEqual([])
    const examples = [...packed].filter((path) => /^dist\/examples\/.*\.ts$/.test(path))
    expect(examples.length).toBeGreaterThan(3)
    for (const path of examples) expect(readFileSync(path, 'utf8')).toMatch(/from 'pawl'/)
  })

  it('keeps a job in a file and runs it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-build-'))
    try {
      const script = join(folder, 'user.mjs')
      writeFileSync(script, keptIn(join(process.cwd(), 'dist/index.js'), join(folder, 'jobs.db')))
      const run = spawnSync(process.execPath, [script], { encoding: 'utf8', timeout: 60_000 })
      expect(run.stderr).toBe('')
      expect(run.stdout).toBe('{"doubled":42}\n')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  describe('installed', () => {
    let folder = ''
    beforeAll(() => {
      folder = install()
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))
    proveInstalled(() => folder)
    proveBundled(() => folder)
  })

  describe('on a Node that is too old', () => {
    const old = [
      { which: 'one that says so', program: process.execPath, args: ['--import', PRETENDS], version: '20.20.2' },
      ...machinesOwn(),
    ]

    it.each(old)('$which, the command line says what is needed', ({ program, args, version }) => {
      const run = spawnSync(program, [...args, 'dist/cli/main.js', 'jobs', 'ls'], { encoding: 'utf8', timeout: 60_000 })
      expect(run.stderr).toMatch(`pawl: Node 22.18+ or 24+ is needed; this is Node ${version}.\n  next   `)
      expect([run.status, run.stdout]).toEqual([1, ''])
    })

    const firstCalls = [
      `import { open } from './dist/index.js'; await open('jobs.db')`,
      `import { open } from './dist/index.js'; await open('memory:')`,
      `import { open } from './dist/index.js'; await open('http://127.0.0.1:1')`,
      `import { openTesting } from './dist/testing/testing.js'; await openTesting([])`,
    ].map((opening) => ({ opening }))

    it.each(old.flatMap((node) => firstCalls.map((call) => ({ ...node, ...call }))))(
      '$which, so does $opening',
      ({ program, args, version, opening }) => {
        const run = spawnSync(program, [...args, '--input-type=module', '-e', opening], { encoding: 'utf8' })
        expect(run.stderr).toContain(`Error: pawl: Node 22.18+ or 24+ is needed; this is Node ${version}. Install it`)
        expect([run.status, run.stdout]).toEqual([1, ''])
      },
    )
  })
})

/** What npm would publish, by its own account. */
function packedFiles(): readonly string[] {
  const run = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' })
  expect(run.status).toBe(0)
  // A list, or an object by name: that depends on npm's version.
  const [pack] = Object.values(JSON.parse(run.stdout) as Record<string, Packed>)
  return pack?.files.map(({ path }) => path) ?? []
}

interface Packed {
  readonly files: readonly { readonly path: string }[]
}

const PRETENDS = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`

/** The one npm was started with may be an old one in earnest: whether it can read our first lines is then seen. */
const machinesOwn = () =>
  machinesNode()
    .filter(({ version }) => nodeTooOld(version) !== undefined)
    .map((node) => ({ which: `the machine’s own`, args: [], ...node }))
