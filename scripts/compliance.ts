import { spawnSync } from 'node:child_process'
import { natsMissing } from '../test/support/debian.ts'
import { rolesIn } from './roles.ts'
import { type Result, tally } from './tally.ts'

/**
 * The five documents, rule by rule; each is the first word of its outermost `describe`. The roles of document 002, each over HTTP and over the
 * bus. Then the mutants, each of which must
 * be killed by a test that cites the rule it breaks. `--mutants`: these alone; all of them, or those whose name, rule or
 * document is given, or `--gate`, the gate's share. Other arguments are vitest's, for some of the tests alone.
 */
const asked = process.argv.slice(2)
const alone = asked.includes('--mutants')
const documents = ['000', '001', '002', '003', '004']
// Asked for some of the tests alone, it counts what there is.
const roles = (results: readonly Result[]) => ({
  ...rolesIn(results, natsMissing()),
  ...(asked.length > 0 && { whole: true }),
})
const tests = alone ? 0 : tally('compliance', 'test/compliance/', documents, roles)
process.exitCode = alone || asked.length === 0 ? Math.max(tests, mutants()) : tests

function mutants(): number {
  const names = asked.filter((argument) => argument !== '--mutants')
  return spawnSync('node', ['test/compliance/mutants/run.ts', ...names], { stdio: 'inherit' }).status ?? 1
}
