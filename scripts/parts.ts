/** What the gate is made of, and how long each part of it may take in soak. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Part {
  readonly name: string
  readonly command: readonly string[]
  /** Run only if something matches; until then the part is skipped, and says so. */
  readonly needs?: string
  /** The name of vitest's report, which has the tests and what each file took. */
  readonly report?: string
  /** How else to read how many tests ran; a part without either counts as one check. */
  readonly count?: (output: string) => Count
  /** Begun with the first part and told of in its turn: it waits for others' machines, and keeps no processor of this one. */
  readonly early?: true
  /** Judged by the clock: alone on the machine, and in soak only. */
  readonly byTheClock?: true
  /** Longer than this in soak, and it is stopped and has failed: all of them together are below four hours. */
  readonly soakMinutes?: number
}

export interface Count {
  readonly passed: number
  readonly failed: number
}

/** For the parts that say nothing else: five of them. */
export const SOAK_MINUTES = 4

export const REPORTS = 'coverage/reports'
/** The files that have something to say about time (`test/support/scale.ts`). */
const timed = globSync('test/**/*.test.ts').filter((path) => readFileSync(path, 'utf8').includes('byTheClock'))

export const partsOf = (soak: boolean): readonly Part[] => [
  { name: 'typecheck', command: ['npm', 'run', '--silent', 'typecheck'] },
  { name: 'typecheck bench', command: ['node', 'scripts/typecheck-bench.ts'] },
  { name: 'lint', command: ['biome', 'check', '.'] },
  { name: 'unused', command: ['knip'] },
  {
    name: 'core',
    command: vitest('core', ['--config', 'vitest.core.config.ts']),
    needs: 'test/core/**/*.test.ts',
    report: 'core',
    soakMinutes: 8,
  },
  {
    name: 'core on bun',
    command: ['bun', 'test'],
    needs: 'test/core/**/*.test.ts',
    count: bunCount,
    soakMinutes: 8,
  },
  {
    name: 'model',
    command: ['node', 'test/model/run.ts', soak ? '--deep' : '--gate'],
    needs: 'test/model/run.ts',
    soakMinutes: 30,
  },
  // Apart, so that an installation neither hides in a test's time nor blocks the runner.
  { name: 'servers', command: ['node', 'scripts/servers.ts'], early: true },
  {
    name: 'everything else',
    command: vitest('rest', [
      '--config',
      'vitest.gate.config.ts',
      ...without('test/core/**', 'test/dialects/**', ...(soak ? timed : [])),
    ]),
    needs: 'test/**/*.test.ts',
    report: 'rest',
    soakMinutes: 135,
  },
  {
    name: 'by the clock',
    command: vitest('timed', ['--maxWorkers=1', ...timed]),
    report: 'timed',
    byTheClock: true,
    soakMinutes: 28,
  },
  {
    name: 'mutants of the documents',
    command: ['node', 'test/compliance/mutants/run.ts', ...(soak ? [] : ['--gate'])],
    needs: 'test/compliance/mutants/run.ts',
    count: mutantCount,
    soakMinutes: 8,
  },
]

function vitest(name: string, args: readonly string[]): string[] {
  return ['vitest', 'run', ...args, '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile(name)}`]
}

function without(...paths: readonly string[]): string[] {
  return paths.flatMap((path) => ['--exclude', path])
}

export function reportFile(name: string): string {
  return join(REPORTS, `${name}.json`)
}

function bunCount(output: string): Count {
  return {
    passed: Number(/^ *(\d+) pass$/m.exec(output)?.[1] ?? 0),
    failed: Number(/^ *(\d+) fail$/m.exec(output)?.[1] ?? 1),
  }
}

/** `000 mutants 12/12, 001 mutants 8/9` */
function mutantCount(output: string): Count {
  const counts = [...output.matchAll(/ mutants (\d+)\/(\d+)/g)]
  const passed = counts.reduce((sum, [, killed]) => sum + Number(killed), 0)
  return { passed, failed: counts.reduce((sum, [, , all]) => sum + Number(all), 0) - passed }
}
