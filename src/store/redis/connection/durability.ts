/** What a server promises about what it has acknowledged, read from its settings, and said. */
import type { Durability } from '../../../system/durability.ts'
import type { Ack } from './address.ts'
import { infoOf } from './info.ts'
import type { Link } from './link.ts'
import { pairs, word, words } from './reply.ts'
import { RedisStoreError } from './trouble.ts'

/** Unless it is asked for by name, nothing is kept in a server that forgets, or that throws away what it was told to keep. */
export function demandDurable({ level, promise }: Durability, settings: Settings | undefined): void {
  if (level === 'none')
    throw refused(
      `${promise}. Turn on appendonly (and appendfsync always, to lose nothing), or say durability: 'none' where jobs may be lost`,
    )
  if (evicts(settings))
    throw refused(`${throwsAway(settings)}. Set it to noeviction, or say durability: 'none' where jobs may be lost`)
}

/** A ledger makes good what a server forgets all at once, not what it throws away bit by bit: nobody would notice. */
export function demandKept(settings: Settings | undefined): void {
  if (evicts(settings)) throw refused(`${throwsAway(settings)}, and no ledger would notice. Set it to noeviction`)
}

const policyIn = (settings: Settings | undefined): string => settings?.['maxmemory-policy'] ?? 'noeviction'

const evicts = (settings: Settings | undefined): boolean => policyIn(settings) !== 'noeviction'

const throwsAway = (settings: Settings | undefined): string =>
  `its maxmemory-policy is ${policyIn(settings)}: when memory is short it throws jobs away`

/** What follows where all that the server does goes to a ledger. */
export function withLedger({ level, promise }: Durability, ack: Ack): Durability {
  if (ack === 'ledger')
    return { level: 'kept', promise: 'what was answered is in the ledger (ack ledger); Redis may be lost' }
  const ledger = 'what the ledger has outlives it (ack redis)'
  return level === 'kept'
    ? { level, promise: `${promise}; ${ledger}` }
    : { level: 'seconds', promise: `of what the ledger does not have yet, ${promise}; ${ledger}` }
}

const refused = (why: string): RedisStoreError =>
  new RedisStoreError('NOT_DURABLE', `pawl: this Redis does not keep jobs: ${why}.`)

export type Settings = Readonly<Record<string, string>>

const ASKED = ['appendonly', 'appendfsync', 'no-appendfsync-on-rewrite', 'save', 'maxmemory-policy']

/** Undefined where the server does not let us ask. */
export async function settingsOf(link: Link): Promise<Settings | undefined> {
  try {
    return Object.fromEntries(pairs(words(await link.send(['CONFIG', 'GET', ...ASKED]))))
  } catch {
    return undefined
  }
}

export async function durabilityOf(link: Link, settings: Settings | undefined): Promise<Durability> {
  const info = infoOf(word(await link.send(['INFO'])))
  const isReplicated = Number(info['connected_slaves'] ?? '0') > 0 || info['cluster_enabled'] === '1'
  return durabilityBy(settings, isReplicated)
}

export function durabilityBy(settings: Settings | undefined, isReplicated: boolean): Durability {
  const { level, promise } = byItself(settings)
  if (!isReplicated || level === 'unknown' || level === 'none') return { level, promise }
  // Replicas are told afterwards.
  const failover = 'a failover loses what its replica had not heard'
  return { level: level === 'kept' ? 'seconds' : level, promise: `${promise}; ${failover}` }
}

function byItself(settings: Settings | undefined): Durability {
  if (settings === undefined)
    return { level: 'unknown', promise: 'the server does not tell its settings (CONFIG GET), so nothing is promised' }
  if (settings['appendonly'] === 'yes') {
    if (settings['appendfsync'] !== 'always')
      return {
        level: 'seconds',
        promise: `a crash of the server loses up to ${settings['appendfsync'] === 'everysec' ? 'two seconds' : 'half a minute'} (appendfsync ${settings['appendfsync']})`,
      }
    return settings['no-appendfsync-on-rewrite'] === 'yes'
      ? {
          level: 'seconds',
          promise: 'a crash while the log is rewritten loses seconds (no-appendfsync-on-rewrite yes)',
        }
      : { level: 'kept', promise: 'what was answered is on the disk (appendfsync always)' }
  }
  return (settings['save'] ?? '') === ''
    ? { level: 'none', promise: 'a crash loses everything (neither appendonly nor save)' }
    : {
        level: 'snapshots',
        promise: `a crash loses what came after the last snapshot (save ${settings['save']}, no appendonly)`,
      }
}
