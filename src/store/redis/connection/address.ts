/** From what a user names to what is connected to: the address, and what stands behind its question mark. */

export interface RedisPlace {
  /** Without what is ours. */
  readonly url: string
  /** What the names of all keys begin with. */
  readonly prefix: string
  /** Jobs may be lost. */
  readonly mayBeLost: boolean
}

export interface RedisWishes {
  readonly prefix?: string | undefined
  readonly durability?: 'none' | undefined
}

const PREFIX = 'pawl'
const NAME = /^[A-Za-z0-9._-]{1,64}$/

export function redisPlace(url: string, wishes: RedisWishes): RedisPlace {
  const parsed = new URL(url)
  const said = Object.fromEntries(parsed.searchParams)
  for (const name of Object.keys(said)) {
    if (name !== 'prefix' && name !== 'durability')
      throw new TypeError(`open: redis:// knows ?prefix=… and ?durability=none, not ?${name}=…`)
  }
  parsed.search = ''
  const prefix = wishes.prefix ?? said['prefix'] ?? PREFIX
  if (!NAME.test(prefix))
    throw new TypeError(
      `open: a prefix is up to 64 letters, digits, dots, dashes and underscores, not ${JSON.stringify(prefix)}`,
    )
  const durability = wishes.durability ?? said['durability']
  if (durability !== undefined && durability !== 'none')
    throw new TypeError(
      `open: durability is read from the server; 'none' says that jobs may be lost, not ${JSON.stringify(durability)}`,
    )
  return { url: parsed.href, prefix, mayBeLost: durability === 'none' }
}

/** An address that leads another thread to the same place. */
export function sameRedis({ url, prefix, mayBeLost }: RedisPlace): string {
  const again = new URL(url)
  again.searchParams.set('prefix', prefix)
  if (mayBeLost) again.searchParams.set('durability', 'none')
  return again.href
}
