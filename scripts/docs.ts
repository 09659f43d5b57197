import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { dialectsReport } from '../src/core/dialects/report.ts'
import { apiPages } from './docs/api.ts'
import { cliPage } from './docs/cli.ts'
import { errorsPage } from './docs/errors.ts'
import { httpPage } from './docs/http.ts'
import { invariantsPage } from './docs/invariants.ts'
import { keysPage } from './docs/keys.ts'
import { limitsPage } from './docs/limits.ts'
import { metricsPage } from './docs/metrics.ts'
import { optionsPage } from './docs/options.ts'
import { stateMachinePage } from './docs/state-machine.ts'

export interface Page {
  readonly path: string
  readonly text: string
}

/** The pages that are functions of the code. A test compares them with what is committed. */
export async function pages(): Promise<readonly Page[]> {
  return [
    { path: 'docs/state-machine.md', text: stateMachinePage() },
    { path: 'docs/errors.md', text: errorsPage() },
    { path: 'docs/invariants.md', text: invariantsPage() },
    { path: 'docs/keys.md', text: keysPage() },
    { path: 'docs/dialects.md', text: dialectsReport() },
    { path: 'docs/cli.md', text: cliPage() },
    { path: 'docs/http.md', text: await httpPage() },
    { path: 'docs/limits.md', text: limitsPage() },
    { path: 'docs/metrics.md', text: metricsPage() },
    { path: 'docs/options.md', text: optionsPage() },
    ...apiPages(),
  ]
}

if (import.meta.main) {
  for (const { path, text } of await pages()) {
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    console.log(`docs: wrote ${path}`)
  }
}
