/**
 * `node test/compliance/mutants/run.ts [--gate] [name of a mutant, rule or document …]`: each mutant must be killed, for
 * every rule it breaks, by a test that cites the rule; and without a mutant all these tests pass. `--gate`: a share of the
 * mutants, the same in every run; that the tests pass is another part of the gate.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { natsMissing } from '../../support/debian.ts'
import type { Verdict } from './lane.ts'
import { type Mutant, SHIPPED } from './mutant.ts'
import { MUTANTS } from './mutants.ts'

const DOCUMENTS = ['000', '001', '002', '003', '004']
/** In the gate one of so many, and all that tests once did not notice. */
const SHARE = 240
const LANES = Math.min(2, availableParallelism())

const gate = process.argv.includes('--gate')
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const since = performance.now()
/** Those that break many rules first: they take longest, and no lane is to wait for one at the end. */
const queue = [...(names.length === 0 && !gate ? [SHIPPED] : []), ...MUTANTS.filter(wanted).toSorted(byRules)]
const verdicts = new Map<string, Verdict>()
await Promise.all(Array.from({ length: Math.min(LANES, queue.length) }, lane))
const alive = [...verdicts.values()].filter(({ survived, broken }) => survived.length > 0 || broken !== undefined)
const judged = MUTANTS.filter(({ name }) => verdicts.has(name)).length
console.log(`${judged} of ${MUTANTS.length} mutants, ${((performance.now() - since) / 1_000).toFixed(1)} s`)
console.log(`compliance: ${DOCUMENTS.map(counted).join(', ')}`)
process.exitCode = alive.length > 0 || judged === 0 ? 1 : 0

function wanted({ name, rules, survived, onBus }: Mutant, position: number): boolean {
  if (onBus && natsMissing() !== undefined) return false
  if (gate) return survived || position % SHARE === 0
  const means = (word: string) =>
    word === name || rules.some((rule) => [rule, partOf(rule), documentOf(rule)].includes(word))
  return names.length === 0 || names.some(means)
}

function byRules(a: Mutant, b: Mutant): number {
  return b.rules.length - a.rules.length
}

/** One process, fed until nothing is left. */
async function lane(): Promise<void> {
  const child = fork(fileURLToPath(new URL('./lane.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await answered<'ready'>(child)
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    child.send(mutant.name)
    const verdict = await answered<Verdict>(child)
    verdicts.set(verdict.name, verdict)
    print(verdict, mutant)
  }
  child.disconnect()
}

function answered<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a lane ended with ${code}`))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message as T)
    })
  })
}

function print(verdict: Verdict, mutant: Mutant): void {
  const { name, survived, ms, broken } = verdict
  const about = mutant === SHIPPED ? name : `${mutant.rules.join(' ')}  ${name}`
  console.log(`${wordFor(verdict, mutant)} ${(ms / 1_000).toFixed(1).padStart(5)} s  ${about}`)
  if (broken !== undefined) console.log(`  ${broken}`)
  else if (survived.length > 0) console.log(`  nothing that cites ${survived.join(', ')} failed`)
}

function wordFor({ survived, onlyLate, broken }: Verdict, mutant: Mutant): string {
  if (broken !== undefined) return 'BROKEN  '
  if (mutant === SHIPPED) return 'passed  '
  return survived.length > 0 ? 'SURVIVED' : onlyLate ? 'too late' : 'killed  '
}

/** `000 mutants 12/12`: those that break a rule of it, and of these the ones that were killed for all they break. */
function counted(document: string): string {
  const mine = MUTANTS.filter(
    ({ name, rules }) => verdicts.has(name) && rules.some((rule) => documentOf(rule) === document),
  )
  const killed = mine.filter(({ name }) => {
    const verdict = verdicts.get(name)
    return verdict?.broken === undefined && !verdict?.survived.some((rule) => documentOf(rule) === document)
  })
  return `${document} mutants ${killed.length}/${mine.length}`
}

/** `000A` of `000A:32`. */
function partOf(rule: string): string {
  return rule.slice(0, rule.indexOf(':'))
}

function documentOf(rule: string): string {
  return rule.slice(0, 3)
}
