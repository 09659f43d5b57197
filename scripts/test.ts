import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { relative } from 'node:path'
import { leavingCores, reporting, takeCores } from './crashes.ts'
import { type Count, type Part, partsOf, REPORTS, reportFile, SOAK_MINUTES } from './parts.ts'

/**
 * The gate: everything that must hold, in the order in which a failure is cheapest to learn. All parts run even when
 * one fails, so that a run tells all it can. `--soak`: the same with full numbers. `--only a,b`: just these parts.
 */
interface Outcome extends Count {
  readonly part: Part
  readonly ok: boolean
  readonly seconds: number
  readonly skipped?: string
}

const soak = process.argv.includes('--soak')

/** How many files of a part are named with what they took. */
const SLOWEST = 12
const only = argument('--only')?.split(',')

rmSync(REPORTS, { recursive: true, force: true })
mkdirSync(REPORTS, { recursive: true })
const outcomes: Outcome[] = []
const asked = partsOf(soak).filter(isAsked)
const began = performance.now()
const early = new Map(asked.filter((part) => part.early).map((part) => [part, execute(part, () => {})]))
for (const part of asked) outcomes.push(await run(part))
process.exitCode = report(outcomes, (performance.now() - began) / 1000)

function isAsked({ name, byTheClock }: Part): boolean {
  return (soak || byTheClock !== true) && (only === undefined || only.includes(name))
}

async function run(part: Part): Promise<Outcome> {
  console.log(`\n── ${part.name}: ${part.command.join(' ')}`)
  if (part.needs !== undefined && globSync(part.needs).length === 0) {
    const skipped = `there is nothing like ${part.needs} yet`
    console.log(`skipped: ${skipped}`)
    return { part, ok: true, seconds: 0, passed: 0, failed: 0, skipped }
  }
  const sinceMs = Date.now()
  const { code, output, seconds } = await (early.get(part) ?? execute(part, (chunk, to) => to.write(chunk)))
  if (early.has(part)) process.stdout.write(output)
  const one: Count = code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
  const counted = part.report !== undefined ? reported(part.report) : (part.count?.(output) ?? one)
  // A runner that found no failing test and yet failed (coverage too low, a stray error) is a failure all the same.
  const count = code !== 0 && counted.failed === 0 ? { ...counted, failed: 1 } : counted
  const ok = code === 0 && count.failed === 0
  for (const line of takeCores(part.name, sinceMs)) console.log(line)
  console.log(`── ${part.name}: ${ok ? 'ok' : 'FAILED'}, ${seconds.toFixed(1)} s`)
  return { part, ok, seconds, ...count }
}

interface Executed {
  readonly code: number
  readonly output: string
  readonly seconds: number
}

function execute(
  { command, byTheClock, soakMinutes = SOAK_MINUTES }: Part,
  tell: (chunk: Buffer, to: NodeJS.WriteStream) => void,
): Promise<Executed> {
  const since = performance.now()
  const [program = '', ...args] = leavingCores(command)
  const alone = byTheClock === true ? { PAWL_BY_THE_CLOCK: '1' } : {}
  const env = { ...process.env, NODE_OPTIONS: reporting(), ...(soak ? { PAWL_SOAK: '1' } : {}), ...alone }
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const limits = soak ? [limit(child, soakMinutes, 'SIGTERM'), limit(child, soakMinutes + 0.5, 'SIGKILL')] : []
    let output = ''
    const pass = (to: NodeJS.WriteStream) => (chunk: Buffer) => {
      output += chunk.toString()
      tell(chunk, to)
    }
    const ended = (code: number) => {
      for (const each of limits) clearTimeout(each)
      resolve({ code, output, seconds: (performance.now() - since) / 1000 })
    }
    child.stdout.on('data', pass(process.stdout))
    child.stderr.on('data', pass(process.stderr))
    child.once('error', (error) => {
      console.error(error)
      ended(1)
    })
    child.once('close', (code) => ended(code ?? 1))
  })
}

function limit(child: ChildProcess, minutes: number, signal: NodeJS.Signals): NodeJS.Timeout {
  return setTimeout(() => {
    console.error(`stopped (${signal}): it has taken longer than the ${minutes} minutes it has in soak`)
    child.kill(signal)
  }, minutes * 60_000)
}

/** What took longest, where a part is many files. */
function slowest({ part: { report } }: Outcome): readonly string[] {
  if (report === undefined || !existsSync(reportFile(report))) return []
  const { testResults } = JSON.parse(readFileSync(reportFile(report), 'utf8')) as {
    testResults: readonly { readonly name: string; readonly startTime: number; readonly endTime: number }[]
  }
  return testResults
    .map(({ name: path, startTime, endTime }) => ({ path: relative('.', path), seconds: (endTime - startTime) / 1000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST)
    .map(({ path, seconds }) => `  ${seconds.toFixed(1).padStart(7)} s  ${path}`)
}

/** Parts that ran beside each other are told with what each took; the total is what all took together. */
function report(all: readonly Outcome[], total: number): number {
  for (const outcome of all) for (const line of slowest(outcome)) console.log(line)
  const width = Math.max(...all.map(({ part }) => part.name.length))
  console.log('')
  for (const { part, ok, seconds, passed, failed, skipped } of all) {
    const verdict = skipped === undefined ? (ok ? 'ok     ' : 'FAILED ') : 'skipped'
    const detail = skipped ?? `${passed} passed, ${failed} failed`
    console.log(`${part.name.padEnd(width)}  ${verdict}  ${seconds.toFixed(1).padStart(7)} s  ${detail}`)
  }
  const sum = (pick: (outcome: Outcome) => number) => all.reduce((total, outcome) => total + pick(outcome), 0)
  console.log(`${'total'.padEnd(width)}           ${total.toFixed(1).padStart(7)} s`)
  console.log(`${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed`)
  return all.every(({ ok }) => ok) ? 0 : 1
}

function reported(name: string): Count {
  if (!existsSync(reportFile(name))) return { passed: 0, failed: 1 }
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(reportFile(name), 'utf8'))
  return { passed: Number(numPassedTests), failed: Number(numFailedTests) }
}

function argument(name: string): string | undefined {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}
