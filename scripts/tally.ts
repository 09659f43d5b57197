import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Result {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
}

interface Report {
  readonly success: boolean
  readonly testResults: readonly { readonly assertionResults: readonly Result[] }[]
}

/** What else is to be read in the results, below the counts: lines, and whether it is as it should be. */
type Besides = (results: readonly Result[]) => { readonly lines: readonly string[]; readonly whole: boolean }

/**
 * Runs the tests under a folder and counts them by group: the first word of a test's outermost `describe`. The last
 * line is `<name>: <group> <passed>/<all>, …`, but for what is told besides. Answers with the exit code.
 */
export function tally(name: string, folder: string, groups: readonly string[], besides: Besides = NOTHING): number {
  const out = mkdtempSync(join(tmpdir(), 'pawl-tally-'))
  try {
    const file = join(out, 'report.json')
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
    const run = spawnSync('vitest', ['run', folder, ...reporters, ...process.argv.slice(2)], { stdio: 'inherit' })
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report
    const results = report.testResults.flatMap(({ assertionResults }) => assertionResults)
    const counts = groups.map((group) => {
      const named = results.filter(({ ancestorTitles }) => ancestorTitles[0]?.split(' ')[0] === group)
      // What does not apply to a group is not counted; the run above says which and why.
      const mine = named.filter(({ status }) => status === 'passed' || status === 'failed')
      if (mine.length < named.length) console.log(`${group}: ${named.length - mine.length} do not apply`)
      return { group, passed: mine.filter(({ status }) => status === 'passed').length, all: mine.length }
    })
    console.log(`${name}: ${counts.map(({ group, passed, all }) => `${group} ${passed}/${all}`).join(', ')}`)
    const whole = counts.every(({ passed, all }) => all > 0 && passed === all)
    const { lines, whole: others } = besides(results)
    for (const line of lines) console.log(line)
    return run.status === 0 && report.success && whole && others ? 0 : 1
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const NOTHING: Besides = () => ({ lines: [], whole: true })
