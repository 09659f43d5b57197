/** The library wherever it can be: on each store, and at the other end of HTTP. */

import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import { openAt, PLACES } from '../engine/opened.ts'
import { openGatewayFixture } from '../gateway/gateway-fixture.ts'

interface Placed extends AsyncDisposable {
  readonly pawl: Pawl
}

const onStore = (name: keyof typeof PLACES) => async (): Promise<Placed> => {
  const place = await PLACES[name]()
  const pawl = await openAt(place)
  return {
    pawl,
    async [Symbol.asyncDispose]() {
      await pawl.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

export const EVERYWHERE: Readonly<Record<'memory' | 'sqlite' | 'postgres' | 'http', () => Promise<Placed>>> = {
  memory: onStore('memory'),
  sqlite: onStore('sqlite'),
  postgres: onStore('postgres'),
  async http() {
    const fixture = await openGatewayFixture()
    const pawl = await open(fixture.gateway.url, { token: fixture.secrets['acme']?.admin, log: 'silent' })
    return {
      pawl,
      async [Symbol.asyncDispose]() {
        await pawl.close()
        await fixture[Symbol.asyncDispose]()
      },
    }
  },
}
