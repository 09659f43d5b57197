import type * as JetStream from '@nats-io/jetstream'
import type * as Transport from '@nats-io/transport-node'

/** Put together: bundlers follow the names they can read, and fail where one is not installed. */
const DRIVERS = [['@nats-io', 'transport-node'].join('/'), ['@nats-io', 'jetstream'].join('/')] as const

export interface Driver {
  readonly transport: typeof Transport
  readonly jetstream: typeof JetStream
}

/** The client of NATS, optional peers: only those who say `nats://` need it, and only then is it loaded. */
export async function loadDriver(): Promise<Driver> {
  const [transport, jetstream] = DRIVERS
  try {
    return {
      transport: await import(/* @vite-ignore */ transport),
      jetstream: await import(/* @vite-ignore */ jetstream),
    }
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('@nats-io'))) throw error
    throw new Error(`pawl: nats:// needs its client beside pawl: npm install ${DRIVERS.join(' ')}`, { cause: error })
  }
}
