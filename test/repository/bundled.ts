/** An application that has pawl bundled into it: beside what it was installed from, and alone. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build as esbuild } from 'esbuild'
import { build as vite } from 'vite'
import { expect, it } from 'vitest'
import { freshDatabase } from '../support/postgres.ts'
import { run } from './installed.ts'

const APP = `
import { defineJob, open } from 'pawl'
const double = defineJob({ type: 'double', run: (n) => ({ doubled: n * 2 }) })
async function main() {
  const pawl = await open(process.argv[2], { migrate: true })
  pawl.work([double])
  const job = await pawl.enqueue(double, 21)
  console.log(JSON.stringify(await job.result({ timeout: '30s' })))
  await pawl.close()
}
main().catch((error) => console.log(error.message))
`
/** What esbuild needs of anybody who bundles CommonJS into modules, as everybody writes it: Postgres' driver is that. */
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`

/** Each writes one file, and answers with its path. */
const BUNDLERS: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  async 'esbuild, as a module'(folder) {
    const outfile = join(folder, 'esbuild.mjs')
    await esbuild({ ...common(folder), format: 'esm', banner: { js: REQUIRE }, outfile })
    return outfile
  },
  async 'esbuild, as CommonJS'(folder) {
    const outfile = join(folder, 'esbuild.cjs')
    // There is no import.meta in CommonJS, which esbuild remarks.
    await esbuild({ ...common(folder), format: 'cjs', outfile, logOverride: { 'empty-import-meta': 'silent' } })
    return outfile
  },
  async Vite(folder) {
    await vite({
      root: folder,
      configFile: false,
      logLevel: 'error',
      ssr: { noExternal: true },
      build: {
        ssr: 'app.mjs',
        outDir: 'vite',
        rolldownOptions: { output: { entryFileNames: 'vite.mjs', codeSplitting: false } },
      },
    })
    return join(folder, 'vite', 'vite.mjs')
  },
}

const common = (folder: string) => ({
  entryPoints: [join(folder, 'app.mjs')],
  bundle: true,
  platform: 'node' as const,
  logLevel: 'error' as const,
})

export function proveBundled(folder: () => string): void {
  it.each(Object.entries(BUNDLERS))('works bundled by %s, or says what to keep external', async (_, bundle) => {
    writeFileSync(join(folder(), 'app.mjs'), APP)
    const bundled = await bundle(folder())
    const alone = mkdtempSync(join(tmpdir(), 'pawl-bundled-'))
    await using database = await freshDatabase()
    try {
      // Where the package is still installed, threads begin with its files.
      expect(run(folder(), bundled, undefined, [join(alone, 'jobs.db')])).toEqual(DOUBLED)
      cpSync(bundled, join(alone, basename(bundled)))
      const apart = run(alone, basename(bundled), undefined, ['other.db'])
      expect(apart.stdout).toContain('Keep it external and installed: esbuild --external:pawl')
      const postgres = run(alone, basename(bundled), undefined, [database.url])
      expect([postgres.stdout, postgres.status]).toEqual([DOUBLED.stdout, 0])
      expect(postgres.stderr).toContain('leases are kept by the event loop of the worker')
    } finally {
      rmSync(alone, { recursive: true, force: true })
    }
  })
}

const DOUBLED = { status: 0, stdout: '{"doubled":42}\n', stderr: '' }
