/** A copy of the core and of the ledger's protocol with one mutant in it, somewhere that is gone afterwards. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { SHIPPED } from './core.ts'
import type { Mutant, Patch } from './mutants/mutant.ts'

const PARTS = ['core', 'store/ledger']
/** Of the model's own hall: what a store does around the core. */
const HABITS = new URL('./flow/habits.ts', import.meta.url)

export async function mutate<T>({ name, patches }: Mutant, load: (sources: URL) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-mutant-'))
  try {
    for (const part of PARTS) cpSync(join(fileURLToPath(SHIPPED), part), join(folder, part), { recursive: true })
    cpSync(fileURLToPath(HABITS), join(folder, 'model/habits.ts'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    for (const patch of patches) apply(name, join(folder, patch.file), patch)
    return await load(pathToFileURL(join(folder, '/')))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function apply(name: string, path: string, { file, find, replace }: Patch): void {
  const parts = readFileSync(path, 'utf8').split(find)
  if (parts.length !== 2)
    throw new Error(`mutant ${name}: ${parts.length - 1} places in ${file} match ${JSON.stringify(find)}`)
  writeFileSync(path, parts.join(replace))
}
