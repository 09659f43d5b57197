/**
 * Where a database is: one host, or several of which one takes writes. The driver knows single hosts only; lists of
 * them, and which of them will do, are read here as libpq reads them:
 *
 *     postgres://user@a:5432,b:5433/db?target_session_attrs=read-write&load_balance_hosts=random&connect_timeout=3
 */
import type pg from 'pg'

/** A URL, or what the driver takes in its place: a password that is asked for each time, certificates. */
export type Address = string | DriverConfig

export type DriverConfig = Omit<
  pg.ClientConfig,
  'pipeline' | 'stream' | 'types' | 'query_timeout' | 'keepAlive' | 'keepAliveInitialDelayMillis'
>

export interface Target {
  /** One address for each host, in the order in which they are tried. */
  readonly hosts: readonly [DriverConfig, ...DriverConfig[]]
  readonly wants: Wanted
  readonly order: 'given' | 'random'
  /** How long one host may take to let a connection in. */
  readonly connectWithinMs: number
}

/** libpq's words for which hosts will do, without those that ask for one that takes no writes. */
export type Wanted = 'read-write' | 'primary' | 'any'

const WANTED: readonly Wanted[] = ['read-write', 'primary', 'any']
const CONNECT_WITHIN_MS = 5_000

export function targetOf(address: Address): Target {
  const { connectionString, host, ...rest } = typeof address === 'string' ? { connectionString: address } : address
  const url = connectionString === undefined ? undefined : URL_PARTS.exec(connectionString)?.groups
  if (url === undefined) {
    const hosts = host?.split(',').map((one) => ({ ...rest, host: one.trim() })) ?? [{ ...rest, connectionString }]
    return { hosts: someOf(hosts), wants: 'read-write', order: 'given', connectWithinMs: CONNECT_WITHIN_MS }
  }
  const params = new URLSearchParams(url['query'])
  const asked = { wants: wantedOf(params), order: orderOf(params), connectWithinMs: patienceOf(params) }
  for (const name of OURS) params.delete(name)
  const hosts = hostsOf(url['list'] ?? '', params).map(([place, own]) => {
    const { scheme = '', user = '', path = '' } = url
    const query = own.size === 0 ? '' : `?${own.toString()}`
    return { ...rest, connectionString: `${scheme}${user}${place}${path}${query}` }
  })
  return { hosts: someOf(hosts), ...asked }
}

const URL_PARTS =
  /^(?<scheme>postgres(?:ql)?:\/\/)(?<user>[^/?#]*@)?(?<list>[^/?#]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?/i

/** Parameters that are read here and that the driver would not understand. */
const OURS = ['target_session_attrs', 'load_balance_hosts', 'connect_timeout']

/** Hosts stand before the path, or are parameters of the query; then ports are, too. */
function hostsOf(list: string, params: URLSearchParams): readonly (readonly [string, URLSearchParams])[] {
  const places = list.split(',')
  const named = params.get('host')?.split(',')
  if (named === undefined) return places.map((place) => [place, params])
  const ports = params.get('port')?.split(',') ?? []
  return named.map((host, n) => {
    const own = new URLSearchParams(params)
    own.set('host', host)
    const port = ports[n] ?? ports[0]
    if (port !== undefined) own.set('port', port)
    return [places[0] ?? '', own]
  })
}

/** pawl writes: an address that does not say otherwise wants a host that takes writes. */
function wantedOf(params: URLSearchParams): Wanted {
  const said = params.get('target_session_attrs') ?? 'read-write'
  const wanted = WANTED.find((each) => each === said)
  if (wanted !== undefined) return wanted
  throw new Error(`pawl: target_session_attrs=${said}: pawl writes, so it is one of ${WANTED.join(', ')}`)
}

function orderOf(params: URLSearchParams): Target['order'] {
  const said = params.get('load_balance_hosts') ?? 'disable'
  if (said === 'disable') return 'given'
  if (said === 'random') return 'random'
  throw new Error(`pawl: load_balance_hosts=${said}: it is disable or random`)
}

/** In seconds, as in libpq. Nothing, and 0, which means for ever there, are our own bound: no host is waited for without end. */
function patienceOf(params: URLSearchParams): number {
  const said = params.get('connect_timeout') ?? '0'
  const seconds = Number(said)
  if (!(Number.isFinite(seconds) && seconds >= 0)) throw new Error(`pawl: connect_timeout=${said}: it is in seconds`)
  return seconds === 0 ? CONNECT_WITHIN_MS : seconds * 1_000
}

function someOf([first, ...others]: readonly DriverConfig[]): Target['hosts'] {
  return [first ?? {}, ...others]
}
