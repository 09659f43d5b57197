/**
 * A world as short text, the same for worlds that differ in nothing that could matter: names and lives are numbered in the order in
 * which they are met, and names that are nowhere any more are forgotten.
 */
import type { Account } from '../../../src/store/ledger/account.ts'
import type { Join } from '../../../src/store/ledger/join.ts'
import type { Jobs, Rec, Written } from './jobs.ts'
import type { Db, Process, World } from './world.ts'

export function packed(world: World): string {
  const numbers = new Map<string, number>([['-', 0]])
  const n = (name: string): number => {
    const known = numbers.get(name)
    if (known !== undefined) return known
    numbers.set(name, numbers.size)
    return numbers.size - 1
  }
  const rec = (one: Rec | null): string =>
    one === null ? '-' : `${one.state[0]}${one.rev}.${n(one.owner)}.${one.seq}${one.left ? '!' : ''}`
  const jobs = ({ jobs: [a = null, b = null], key }: Jobs): string => `${rec(a)},${rec(b)},${key}`
  const told = new Set<string>()
  const entry = (one: Written): string => {
    const name = n(one.name)
    if (told.has(one.name)) return `${name}`
    told.add(one.name)
    return `${name}(${one.seq} ${n(one.prev)} ${one.at} ${one.epoch} ${one.job}${rec(one.rec)}${one.key})`
  }
  const entries = (list: readonly Written[]): string => list.map(entry).join(' ')
  const account = ({ epoch, head, folded, keptFrom }: Account): string =>
    `${epoch}/${head.seq}/${n(head.name)}/${folded}/${keptFrom}`
  const db = ({ meta, log, hot, pages }: Db): string =>
    [
      `${meta.epoch} ${meta.head.seq} ${n(meta.head.name)} ${meta.at} ${n(meta.incarnation)} ${meta.copy} ${meta.joining} ${meta.evicted}`,
      entries(log),
      jobs(hot),
      pages,
    ].join(';')
  const join = (one: Join<Written>): string => {
    if (one.step === 'look' || one.step === 'joined') return one.step
    if (one.step === 'ship')
      return `ship ${one.append.epoch} ${n(one.append.after.name)} ${entries(one.append.entries)}`
    const more = one.step === 'replay' ? entries(one.entries) : one.step === 'load' ? one.page : ''
    return `${one.step} ${account(one.account)} ${more} ${one.step === 'open' ? one.fitted.by : ''}`
  }
  const process = ({ server, incarnation, joined, join: step, call, owns, restore }: Process): string =>
    [
      `${server}${n(incarnation)} ${joined}`,
      step && join(step),
      call && `${call.epoch} ${n(call.name)} ${call.seq} ${call.deed}${call.job} ${jobs(call.saw)} ${call.looked.seq}`,
      owns && `${owns.job}${n(owns.name)}`,
      restore && `${restore.job} ${restore.folded} ${rec(restore.rec)}`,
    ].join(';')
  const { ledger, servers, processes, flight, append, folding, refused } = world
  const text = [
    account(ledger),
    entries(ledger.log),
    ...servers.map((one) => `${one.master ? 'm' : 'f'}${n(one.life)} ${one.db && db(one.db)}`),
    ...processes.map(process),
    flight &&
      `${flight.server}${flight.epoch} ${n(flight.incarnation)} ${flight.deed}${flight.job} ${n(flight.name)} ${n(flight.owner)} ${flight.folded} ${rec(flight.read ?? null)}`,
    folding && `${folding.from} ${entries(folding.entries)}`,
    append && `${append.epoch} ${n(append.after.name)} ${entries(append.entries)}`,
  ].join('|')
  const gone = refused.filter((name) => numbers.has(name)).map(n)
  return `${text}|${gone.sort((a, b) => a - b)}|${world.faults} ${world.names}`
}

export const describe = ({ ledger, servers }: World): string => {
  const server = ({ master, db }: World['servers'][0]): string =>
    `${master ? '' : '('}${db === undefined ? 'nothing' : `${db.meta.epoch}: ${namesIn(db.log)} ${db.meta.head.seq}`}${master ? '' : ')'}`
  return `ledger ${ledger.epoch}: ${namesIn(ledger.log)}; A ${server(servers[0])}; B ${server(servers[1])}`
}

const namesIn = (log: readonly Written[]): string => log.map(({ name }) => name).join(' ')
