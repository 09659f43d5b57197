/** A gateway in front of a store, as what is said over HTTP goes through. */
import { type Build, built, builtGateway } from '../build.ts'

const UNLIMITED = { itemsPerSecond: 1e9, itemsAtOnce: 1e9 }

export async function serve(url: string, build: Build = 'now'): Promise<string> {
  const { open } = await built(build)
  const { startGateway } = await builtGateway(build)
  const { engine } = await open(url)
  // Caps, and what they were called before: a worker that drains is no tenant who must be held back.
  const unlimited = { caps: UNLIMITED, rate: { perSecond: 1e9, burst: 1e9 } }
  const gateway = await startGateway({ engine, port: 0, auth: false, ...unlimited })
  return gateway.url
}
