import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { JobDefinition } from '../worker/definition.ts'
import { exportedJobs } from '../worker/exported-jobs.ts'
import { Missing, Usage } from './exit.ts'

/** The jobs that a module exports. Whoever says nothing else can be imported from there by another process, too. */
export async function jobsIn(module: string): Promise<readonly JobDefinition[]> {
  const path = resolve(module)
  if (!existsSync(path)) throw new Missing(`There is no module ${module}.`)
  const { href } = pathToFileURL(path)
  const found = exportedJobs(await imported(module, href))
  if (found.length === 0)
    throw new Usage(`${module} exports no job.`, 'Export what defineJob returns: export const mail = defineJob({ … })')
  return found.map((job) => ({ ...job, module: job.module ?? href }))
}

async function imported(module: string, href: string): Promise<object> {
  try {
    return (await import(href)) as object
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    // What `npm init` writes into package.json makes every .ts and .js file CommonJS, and they are none.
    const next = /import statement outside a module|Unexpected token 'export'/.test(why)
      ? 'Say that its package has modules: npm pkg set type=module'
      : `See where, by itself: node ${module}`
    throw new Usage(`${module} cannot be imported: ${why}.`, next)
  }
}
