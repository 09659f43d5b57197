/**
 * One lane of the run: a process with a copy of the sources and one vitest on it, which is given mutants one after the
 * other. Because starting vitest and reading 300 files takes longer than most rules take to test.
 */
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVitest, type TestCase, type Vitest } from 'vitest/node'
import { citations, rulesIn } from '../citations.ts'
import { type Mutant, type Patch, SHIPPED } from './mutant.ts'
import { MUTANTS } from './mutants.ts'

export interface Verdict {
  readonly name: string
  /** Rules for which no test failed that cites them. */
  readonly survived: readonly string[]
  readonly ms: number
  /** Nothing failed but what had to wait too long: on a busy machine, that may be no fault of the mutant's. */
  readonly onlyLate: boolean
  /** Why it could not be judged. */
  readonly broken?: string
}

/** A mutant may keep a test waiting for ever; so long, and it has failed. The slowest without one takes a third of it. */
const TEST_MS = 6_000
/** Opening a store is no test: however busy the machine is, it waits. */
const HOOK_MS = 120_000
const COPIED = ['src', 'test', 'docs', 'package.json', 'tsconfig.json', 'vitest.config.ts']

/** The rules that the mutant at hand breaks and no test has failed for yet; and whether one has failed in time. */
let alive: ReadonlySet<string> = new Set()
let isInTime = false
const cited = citations()
const root = copied()
process.chdir(root)
let vitest = await opened()

process.on('message', (name: string) => {
  judge(name).then(
    (verdict) => process.send?.(verdict),
    (error: unknown) =>
      process.send?.({ name, survived: [], ms: 0, onlyLate: false, broken: String(error) } satisfies Verdict),
  )
})
process.once('exit', () => rmSync(root, { recursive: true, force: true }))
process.once('disconnect', () => {
  void vitest.close().finally(() => process.exit())
})
process.send?.('ready')

function opened(): Promise<Vitest> {
  return createVitest(
    'test',
    {
      root,
      watch: false,
      pool: 'threads',
      maxWorkers: 1,
      testTimeout: TEST_MS,
      hookTimeout: HOOK_MS,
      reporters: [{ onTestCaseResult }],
    },
    { cacheDir: join(root, '.vite') },
  )
}

/** Once every rule has a test that failed, and one of them not for lateness, the verdict stands: no test more can change it. */
function onTestCaseResult(test: TestCase): void {
  if (test.result().state !== 'failed') return
  const { title, isLate } = failure(test)
  alive = alive.difference(new Set(rulesIn(title)))
  isInTime ||= !isLate
  if (alive.size === 0 && isInTime) void vitest.cancelCurrentRun('test-failure')
}

function copied(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pawl-mutants-')))
  for (const each of COPIED) cpSync(each, join(folder, each), { recursive: true })
  symlinkSync(realpathSync('node_modules'), join(folder, 'node_modules'))
  return folder
}

async function judge(name: string): Promise<Verdict> {
  const since = performance.now()
  const mutant = [SHIPPED, ...MUTANTS].find((one) => one.name === name)
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`)
  const restore = mutant.patches.map(apply)
  try {
    const first = await judged(mutant).catch(() => undefined)
    // A test that was stopped while it still loaded modules leaves some of them as they were: once more, with fresh ones.
    const { survived, onlyLate } = first === undefined || first.survived.length > 0 ? await judgedAnew(mutant) : first
    return { name, survived, ms: performance.now() - since, onlyLate }
  } finally {
    for (const each of restore.reverse()) each()
  }
}

async function judgedAnew(mutant: Mutant): Promise<Pick<Verdict, 'survived' | 'onlyLate'>> {
  await vitest.close()
  vitest = await opened()
  return judged(mutant)
}

async function judged(mutant: Mutant): Promise<Pick<Verdict, 'survived' | 'onlyLate'>> {
  const failed = await failures(mutant)
  const titles = failed.map(({ title }) => title)
  if (mutant === SHIPPED && failed.length > 0) throw new Error(`it fails: ${titles.join('; ')}`)
  const isKilled = (rule: string) => titles.some((title) => rulesIn(title).includes(rule))
  return {
    survived: mutant === SHIPPED ? [] : mutant.rules.filter((rule) => !isKilled(rule)),
    onlyLate: failed.every(({ isLate }) => isLate),
  }
}

/** Writes the defect into the copy, and answers with how to take it out again. */
function apply({ file, find, replace }: Patch): () => void {
  const path = join(root, 'src', file)
  const text = readFileSync(path, 'utf8')
  const parts = text.split(find)
  if (parts.length !== 2) throw new Error(`${parts.length - 1} places in src/${file} match ${JSON.stringify(find)}`)
  const write = (changed: string): void => {
    writeFileSync(path, changed)
    vitest.invalidateFile(path)
  }
  write(parts.join(replace))
  return () => write(text)
}

interface Failed {
  readonly title: string
  readonly isLate: boolean
}

/** The tests that failed, of those that cite a rule the mutant breaks. */
async function failures({ rules, store }: Mutant): Promise<readonly Failed[]> {
  const paths = new Set(cited.filter(({ rule }) => rules.includes(rule)).map(({ path }) => join(root, path)))
  vitest.setGlobalTestNamePattern(citing(rules, store))
  const specifications = (await vitest.globTestSpecifications()).filter(({ moduleId }) => paths.has(moduleId))
  alive = new Set(rules)
  isInTime = false
  const { testModules } = await vitest.runTestSpecifications(specifications)
  const stillborn = testModules.flatMap((module) => module.errors().map(({ message }) => message))
  if (stillborn.length > 0) throw new Error(`it does not load: ${stillborn[0]?.split('\n')[0]}`)
  const tests = testModules.flatMap((module) => [...module.children.allTests()])
  if (tests.every((test) => test.result().state === 'skipped')) throw new Error('no test cites what it breaks')
  return tests.filter((test) => test.result().state === 'failed').map(failure)
}

const failure = (test: TestCase): Failed => ({
  title: test.fullName,
  isLate: test.result().errors?.every(({ message }) => LATE.test(message)) === true,
})

const LATE = /timed out in|in vain for/

/** The titles that cite one of them, where the mutant can be seen. */
function citing(rules: readonly string[], store: Mutant['store']): RegExp {
  const elsewhere = store === 'SQLite' ? 'Postgres' : 'SQLite'
  return new RegExp(`^(?!.* on ${elsewhere} ).*(?:${rules.join('|')})(?!\\d)`)
}
