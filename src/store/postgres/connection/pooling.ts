/** Whether a pooler gives a connection a backend for good, as one in session mode does, or for a transaction at a time. */
import type { Link } from './link.ts'

/**
 * By looking at two connections, one of which keeps its backend busy: a pooler that lends backends gives the second the
 * one that the first had, which is the last that was used; or, where it goes round, the first another than before.
 */
export async function keepsBackend(one: Link, other: Link): Promise<boolean> {
  const before = await backendOf(one)
  await other.ask('begin')
  try {
    return (await backendOf(other)) !== before && (await backendOf(one)) === before
  } finally {
    await other.ask('rollback')
  }
}

async function backendOf(link: Link): Promise<number> {
  const [row] = await link.ask('select pg_backend_pid()')
  return Number(row?.[0])
}
