/** The package as applications have it: packed, unpacked beside its dependencies, and imported by its name. Built before. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { entryModules } from '../../scripts/docs/api.ts'
import { nodeTooOld } from '../../src/system/node-version.ts'
import { filesOf } from './guide.ts'

/** Uses each as its page says, and prints one line. */
const APP = `
const double = defineJob({ type: 'double', run: (n) => n * 2 })
const metrics = prometheus()
const pawl = await open('memory:', { metrics })
metrics.watch(pawl)
pawl.work([double])
const { fetch } = gateway(pawl, { authorize: () => ({ name: 'me', scope: 'viewer' }) })
const job = await pawl.enqueue(double, 21)
const result = await job.result({ timeout: '30s' })
const { status } = await fetch(new Request('http://app.example/v1/jobs/' + job.id))
console.log(JSON.stringify([result, status, (await metrics.text()).includes('pawl_claims_total{type="double"} 1')]))
await pawl.close()
`
const NAMES = { pawl: 'defineJob, open', 'pawl/gateway': 'gateway', 'pawl/prometheus': 'prometheus' }

/** With the types that an editor shows, in a project that checks what it uses. */
const TYPED = `
import { defineJob, open } from 'pawl'
import type { PostgresPool, Where } from 'pawl/engine'
import { type Access, gateway } from 'pawl/gateway'
import { prometheus } from 'pawl/prometheus'
import { openTesting } from 'pawl/testing'
import { fromKysely } from 'pawl/transactions'

const double = defineJob({ type: 'double', run: (n: number) => n * 2 })
export async function app(where: Where, pool: PostgresPool): Promise<number> {
  const metrics = prometheus()
  await using pawl = await open(where, { metrics })
  await using other = await open({ pool })
  metrics.watch(pawl)
  const access: Access = { name: 'me', scope: 'viewer' }
  gateway(other, { authorize: () => access })
  return (await pawl.enqueue(double, 21)).result()
}
export { fromKysely, openTesting }
`

/** Nobody has written these types down: the compiler must name them in the declarations of whoever exports them. */
const INFERRED = `
import { defineJob, type Pawl, Refused, SomeRefused } from 'pawl'

export const double = defineJob({ type: 'double', run: (n: number) => n * 2 })
export const answered = async (pawl: Pawl, id: string) => {
  const job = await pawl.get(id)
  const narrowed = job?.state === 'running' ? job : undefined
  const [outcome] = await pawl.enqueueEach(double, [1])
  const handle = await pawl.enqueue(double, 1)
  const { machine, contract } = pawl
  const read = [await pawl.find(), await pawl.events({ after: '' }), await handle.events(), await handle.explain()] as const
  const done = [await pawl.verify(), await pawl.redrive(), await handle.cancel()] as const
  return { job, narrowed, outcome, handle, machine, contract, read, done, worker: pawl.work([double]) }
}
export const recovered = (error: unknown) =>
  error instanceof Refused ? error.refusal : error instanceof SomeRefused ? error.refused : undefined
export const approved = defineJob({ type: 'approved', run: (_: null, ctx) => ctx.waitFor<string>('yes', { timeout: '1d' }) })
`

/** A program that keeps a job in a file and runs it: with threads, one of which keeps its lease. */
export const keptIn = (library: string, file: string): string => `
import { defineJob, open } from ${JSON.stringify(library)}
const double = defineJob({ type: 'double', run: (n) => ({ doubled: n * 2 }) })
const pawl = await open(${JSON.stringify(file)})
pawl.work([double])
const job = await pawl.enqueue(double, 21)
console.log(JSON.stringify(await job.result({ timeout: '30s' })))
await pawl.close()
`

/** A folder with an application's `node_modules`. */
export function install(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-package-'))
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { encoding: 'utf8' })
  expect(packed.status, packed.stderr).toBe(0)
  const [tarball = ''] = readdirSync(folder)
  expect(spawnSync('tar', ['-xzf', tarball], { cwd: folder }).status).toBe(0)
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@types'), { recursive: true })
  renameSync(join(folder, 'package'), join(modules, 'pawl'))
  // What npm would install with it, where this repository has it.
  for (const name of DEPENDENCIES) symlinkSync(resolve('node_modules', name), join(modules, name))
  return folder
}

const DEPENDENCIES = [
  '@hono',
  '@marcbachmann',
  '@opentelemetry',
  '@standard-schema',
  '@types/node',
  'commander',
  'croner',
  'hono',
  'pg',
  'prom-client',
  'yaml',
  'zod',
]

/** Runs a program there. */
export function run(
  folder: string,
  file: string,
  text?: string,
  args: readonly string[] = [],
  node = process.execPath,
) {
  if (text !== undefined) writeFileSync(join(folder, file), text)
  const options = { cwd: folder, encoding: 'utf8', timeout: 60_000 } as const
  const { status, stdout, stderr } = spawnSync(node, [file, ...args], options)
  return { status, stdout, stderr }
}

/** The Node of the machine, which need not be the one that came along with the packages. */
export function machinesNode(): readonly { readonly program: string; readonly version: string }[] {
  const path = process.env['PATH']?.split(':').filter((folder) => !folder.includes('node_modules')) ?? []
  const program = path.map((folder) => join(folder, 'node')).find((file) => existsSync(file))
  if (program === undefined) return []
  return [{ program, version: spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout.trim() }]
}

const WORKS = { status: 0, stdout: '[42,200,true]\n', stderr: '' }

export function proveInstalled(folder: () => string): void {
  it('has every entry it promises', () => {
    const text = [...entryModules().keys()].map((name) => `await import('${name}')`).join('\n')
    expect(run(folder(), 'entries.mjs', text)).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  const modules = Object.entries(NAMES).map(([name, names]) => `import { ${names} } from '${name}'`)

  it('works in an application of modules', () => {
    expect(run(folder(), 'app.mjs', modules.join('\n') + APP)).toEqual(WORKS)
  })

  it.each(machinesNode().filter(({ version }) => nodeTooOld(version) === undefined))(
    'works on the machine’s own Node, $version',
    ({ program }) => {
      expect(run(folder(), 'app.mjs', modules.join('\n') + APP, [], program)).toEqual(WORKS)
      expect(run(folder(), 'kept.mjs', keptIn('pawl', 'kept.db'), [], program)).toEqual({
        status: 0,
        stdout: '{"doubled":42}\n',
        stderr: '',
      })
    },
  )

  it('works as the first guide says', () => {
    const shop = join(folder(), 'shop')
    mkdirSync(shop)
    writeFileSync(join(shop, 'package.json'), '{ "type": "module" }')
    for (const [name, text] of filesOf('docs/getting-started.md')) writeFileSync(join(shop, name), text)
    const ran = spawnSync(process.execPath, ['main.ts'], { cwd: shop, encoding: 'utf8', timeout: 60_000 })
    expect(ran.stdout).toMatch(/^pj_1\n\{ to: 'ann@example\.com', letters: 5 \} \S+\n$/)
    expect([ran.status, ran.stderr]).toEqual([0, ''])
  })

  it('works in an application that requires', () => {
    const requires = Object.entries(NAMES).map(([name, names]) => `const { ${names} } = require('${name}')`)
    expect(run(folder(), 'app.cjs', `${requires.join('\n')}\n;(async () => {${APP}})()`)).toEqual(WORKS)
  })

  it.each(['nodenext', 'bundler'])('has types that hold for a project of module resolution %s', (moduleResolution) => {
    const compilerOptions = {
      module: moduleResolution === 'nodenext' ? 'nodenext' : 'preserve',
      moduleResolution,
      target: 'es2022',
      lib: ['es2023', 'esnext.disposable'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      declaration: true,
      outDir: 'declared',
    }
    for (const text of [TYPED, INFERRED]) {
      writeFileSync(join(folder(), 'app.mts'), text)
      writeFileSync(join(folder(), 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.mts'] }))
      const checked = spawnSync(resolve('node_modules/.bin/tsc'), ['-p', folder()], { encoding: 'utf8' })
      expect(checked.stdout).toBe('')
      expect(checked.status).toBe(0)
    }
  })
}
