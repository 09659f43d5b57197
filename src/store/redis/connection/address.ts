/** From what a user names to what is connected to: the address, and what stands behind its question mark. */

/** Whom an answer waits for, where there is a ledger. */
export type Ack = 'ledger' | 'redis'

export interface RedisPlace {
  /** Without what is ours. */
  readonly url: string
  /** What the names of all keys begin with. */
  readonly prefix: string
  /** Jobs may be lost. */
  readonly mayBeLost: boolean
  /** The Postgres that keeps the log of this Redis. */
  readonly ledger: string | undefined
  readonly ack: Ack
}

export interface RedisWishes {
  readonly prefix?: string | undefined
  readonly durability?: 'none' | undefined
  readonly ledger?: string | undefined
  readonly ack?: Ack | undefined
}

const PREFIX = 'pawl'
const NAME = /^[A-Za-z0-9._-]{1,64}$/
const KNOWN: readonly string[] = ['prefix', 'durability', 'ledger', 'ack']

export function redisPlace(url: string, wishes: RedisWishes): RedisPlace {
  const parsed = new URL(url)
  const said = Object.fromEntries(parsed.searchParams)
  for (const name of Object.keys(said)) {
    if (!KNOWN.includes(name))
      throw new TypeError(
        `open: redis:// knows ?prefix=…, ?durability=none, ?ledger=postgres://… and ?ack=…, not ?${name}=…; what stands behind & in the ledger's own address is written %26`,
      )
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
  const ledger = wishes.ledger ?? said['ledger']
  const ack = ackOf(wishes.ack ?? said['ack'], ledger)
  if (ledger !== undefined && durability === 'none')
    throw new TypeError("open: durability: 'none' says that jobs may be lost, and a ledger is there to keep them")
  return { url: parsed.href, prefix, mayBeLost: durability === 'none', ledger, ack }
}

function ackOf(ack: string | undefined, ledger: string | undefined): Ack {
  if (ledger === undefined) {
    if (ack === undefined) return 'redis'
    throw new TypeError('open: ack says whom an answer waits for where there is a ledger, and none is named')
  }
  if (!/^postgres(ql)?:\/\//i.test(ledger))
    throw new TypeError('open: a ledger is a Postgres, named by its postgres://… address')
  if (ack === undefined || ack === 'ledger' || ack === 'redis') return ack ?? 'ledger'
  throw new TypeError(`open: ack is 'ledger' or 'redis', not ${JSON.stringify(ack)}`)
}

/** The ledger that an address names. */
export const ledgerIn = (url: string): string | undefined =>
  /^rediss?:/i.test(url) && URL.canParse(url) ? (new URL(url).searchParams.get('ledger') ?? undefined) : undefined

/** An address that leads another thread to the same place. */
export function sameRedis({ url, prefix, mayBeLost, ledger, ack }: RedisPlace): string {
  const again = new URL(url)
  again.searchParams.set('prefix', prefix)
  if (mayBeLost) again.searchParams.set('durability', 'none')
  if (ledger === undefined) return again.href
  again.searchParams.set('ledger', ledger)
  again.searchParams.set('ack', ack)
  return again.href
}
