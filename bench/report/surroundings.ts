/** On what it was measured: without this no figure means anything. */
import { spawnSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { peerVersions } from '../install.ts'
import { postgresMeasured } from '../servers.ts'

export interface Surroundings {
  readonly at: string
  readonly commit: string
  readonly processor: string
  readonly cores: number
  readonly memoryGib: number
  /** Of the last minute, when it began: above 1 somebody else was busy, and ratios are less certain. */
  readonly loadBefore: number
  readonly versions: Readonly<Record<string, string>>
}

/** To be asked before anything runs, installations included. */
export const loadNow = (): number => Math.round((loadavg()[0] ?? 0) * 10) / 10

/** To be asked when everything is installed. */
export function surroundings(loadBefore: number): Surroundings {
  const all = cpus()
  return {
    at: new Date().toISOString(),
    commit: said('git', 'rev-parse', '--short', 'HEAD'),
    processor: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    loadBefore,
    versions: {
      ...peerVersions(),
      // Last: among what the peers bring there is a client that is called postgres, too.
      node: process.version.slice(1),
      postgres: versionIn(said(join(postgresMeasured(), 'postgres'), '--version')),
      redis: versionIn(said('redis-server', '--version')),
      pgbouncer: versionIn(said('pgbouncer', '--version')),
    },
  }
}

const said = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: 'utf8' }).stdout?.trim() ?? ''
const versionIn = (text: string) => /\d+(\.\d+)+/.exec(text)?.[0] ?? 'unknown'
