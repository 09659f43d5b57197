/** `--bus`: a bus for each tenant that was named, as long as the command serves. */
import { DEFAULT_TENANT } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import type { Caps } from '../gateway/caps.ts'
import type { Pawl } from '../library/pawl.ts'
import { withoutCredentials } from '../system/credentials.ts'
import { type Log, stderrLog } from '../system/log.ts'
import { realRandom } from '../system/random.ts'
import { Usage } from './exit.ts'
import type { Session } from './session.ts'

export interface Buses extends AsyncDisposable {
  readonly lines: readonly string[]
}

interface Place {
  readonly tenant: string
  readonly url: string
}

export async function openBuses(
  session: Session,
  asked: readonly string[],
  roles: ReadonlySet<string>,
  { engine }: Pick<Pawl, 'engine'>,
  caps: Partial<Caps>,
  log: Log = stderrLog,
): Promise<Buses> {
  const places = asked.map((text) => placeIn(text, session.tenant))
  const twice = places.find(({ tenant }, i) => places.findIndex((other) => other.tenant === tenant) < i)
  if (twice !== undefined)
    throw new Usage(`--bus names two buses for tenant ${twice.tenant}.`, 'Name one for each: --bus acme=nats://…')
  const open: AsyncDisposable[] = []
  const close = async () => {
    await Promise.all(open.map((bus) => bus[Symbol.asyncDispose]()))
  }
  const own = new Set((['gateway', 'scheduler'] as const).filter((role) => roles.has(role)))
  try {
    for (const place of places) open.push(await openBusAt(session, place, { engine, roles: own, caps, log }))
  } catch (error) {
    await close()
    throw new Usage(reasonOf(error).replace(/^pawl: /, ''), 'docs/bus.md says what a bus needs.')
  }
  const lines = places.map(({ tenant, url }) => `The bus of ${tenant} is ${withoutCredentials(url)}.`)
  return { lines, [Symbol.asyncDispose]: close }
}

async function openBusAt(
  { timers, clock }: Session,
  place: Place,
  parts: Pick<Parameters<typeof import('../bus/bus.ts').openBus>[0], 'engine' | 'roles' | 'caps' | 'log'>,
): Promise<AsyncDisposable> {
  const { openBus } = await import('../bus/bus.ts')
  return await openBus({ ...place, ...parts, timers, clock, random: realRandom })
}

/** `acme=nats://…`, or a URL alone: the tenant of `--tenant`. */
function placeIn(text: string, own = DEFAULT_TENANT): Place {
  const [, tenant = own, url = ''] = /^(?:([^=/]+)=)?(.*)$/s.exec(text) ?? []
  if (!/^(nats|tls):\/\//i.test(url))
    throw new Usage(
      `--bus takes the address of a NATS server, and ${withoutCredentials(text)} is none.`,
      'Say nats://host:4222, or acme=nats://user:password@host:4222 for a tenant.',
    )
  return { tenant, url }
}
