/** Jobs that wait for a signal and hold no worker, and what signals are addressed to. */

import { query } from '../servers.ts'
import type { Size } from '../size.ts'
import type { Stage } from '../stage.ts'

const CONCURRENCY = 256

/** What other scenarios stand beside. The names are kept in the database itself, so that copies of it have them, too. */
export async function parkMany(stage: Stage, size: Size): Promise<void> {
  await park(stage, size.beside, signalsOf(size))
}

/** Of those that wait, so many are resumed: the first of them to get warm with. */
export const signalsOf = ({ warm, jobs }: Size): number => Math.ceil((warm + jobs) / 10)

export async function park(stage: Stage, count: number, signalled: number): Promise<void> {
  const names = await stage.fill(count, { names: signalled })
  const worker = await stage.connected('worker')
  await stage.shift(worker, { waiting: true, concurrency: CONCURRENCY }, count)
  await worker[Symbol.asyncDispose]()
  await query(
    stage.url,
    'create table public.parked (name text)',
    `insert into public.parked values ${names.map(quoted)}`,
    'analyze',
  )
}

/** In no order that anything was made in. */
export async function parkedNames({ url }: Stage): Promise<readonly string[]> {
  const rows = await query<{ name: string }>(url, 'select name from public.parked order by md5(name)')
  return rows.map(({ name }) => name)
}

const quoted = (name: string) => `('${name}')`
