/** On what it was measured: without this no figure means anything. */
import { spawnSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { postgresBinaries } from '../../test/support/debian.ts'
import { peerVersions } from '../install.ts'

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

/** Taken when the module is loaded, before anything runs. */
const loadBefore = loadavg()[0] ?? 0

export function surroundings(): Surroundings {
  const all = cpus()
  return {
    at: new Date().toISOString(),
    commit: said('git', 'rev-parse', '--short', 'HEAD'),
    processor: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    loadBefore: Math.round(loadBefore * 10) / 10,
    versions: {
      node: process.version,
      postgres: said(join(postgresBinaries(), 'postgres'), '--version'),
      redis: said('redis-server', '--version').split(' ').slice(0, 3).join(' '),
      ...peerVersions(),
    },
  }
}

const said = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: 'utf8' }).stdout?.trim() ?? ''
