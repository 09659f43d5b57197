import { describe, expect, it } from 'vitest'
import { defineJob, defineSpec, Invalid, open, type Pawl } from '../../src/index.ts'
import { openAt, PLACES } from '../engine/opened.ts'
import { openGatewayFixture } from '../gateway/gateway-fixture.ts'
import { eventually } from '../support/eventually.ts'

const charge = defineJob({
  type: 'charge.card',
  queue: 'payments',
  retry: { attempts: 3 },
  run: (input: { readonly cents: number }) => input.cents,
})

/** A store with a worker that has announced its type: at hand, or behind a gateway, as producer and worker see it. */
const PLACED = {
  'with the store at hand': async () => {
    const pawl = await openAt(await PLACES.memory())
    const worker = pawl.work([charge])
    return { producer: pawl, [Symbol.asyncDispose]: () => worker.stop().then(() => pawl.close()) }
  },
  'behind a gateway': async () => {
    const fixture = await openGatewayFixture()
    const { worker: workerToken, producer: producerToken } = fixture.secrets['acme'] ?? {}
    const workshop = await open(fixture.gateway.url, { token: workerToken, log: 'silent' })
    const producer = await open(fixture.gateway.url, { token: producerToken, log: 'silent' })
    workshop.work([charge])
    return {
      producer,
      async [Symbol.asyncDispose]() {
        for (const each of [workshop, producer, fixture]) await each[Symbol.asyncDispose]()
      },
    }
  },
} as const

const announced = (producer: Pawl) =>
  eventually('the type to be announced', () =>
    producer.enqueue<typeof charge>('charge.card', { cents: 1 }).catch(() => undefined),
  )

const kindOf = async (producer: Pawl, id: string) => {
  const { queue, policy } = (await producer.get(id))?.spec.kind ?? {}
  return [queue, policy?.maxAttempts]
}

describe.each(Object.entries(PLACED))('a type known by its name, %s', (_, placed) => {
  it('has the queue and the policy that its worker announced, and runs', async () => {
    await using place = await placed()
    const { producer } = place
    const job = await announced(producer)
    expect(await kindOf(producer, job.id)).toEqual(['payments', 3])
    expect(await job.result({ timeout: '30s' })).toBe(1)
  })

  it('keeps its policy whichever queue is named, and gives it up only for another', async () => {
    await using place = await placed()
    const { producer } = place
    await announced(producer)
    const asked = async (options: object) => {
      const { id } = await producer.enqueue<typeof charge>('charge.card', { cents: 2 }, options)
      return kindOf(producer, id)
    }
    expect(await asked({ queue: 'payments' })).toEqual(['payments', 3])
    expect(await asked({ queue: 'elsewhere' })).toEqual(['elsewhere', 3])
    expect(await asked({ policy: { lease: '40s' } })).toEqual(['payments', 7])
    expect(await asked({ queue: 'elsewhere', policy: { retry: { attempts: 2 } } })).toEqual(['elsewhere', 2])
    const many = await producer.enqueueMany<typeof charge>('charge.card', [{ cents: 3 }, { cents: 4 }], (_, i) =>
      i === 0 ? { queue: 'bulk' } : {},
    )
    expect(await Promise.all(many.map(({ id }) => kindOf(producer, id)))).toEqual([
      ['bulk', 3],
      ['payments', 3],
    ])
  })

  it('is refused where nobody has announced it and nobody says which queue', async () => {
    await using place = await placed()
    const { producer } = place
    const refused = await producer.enqueue('unheard.of').catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Invalid)
    expect((refused as Invalid).message).toContain('no worker has announced unheard.of yet')
    expect(await kindOf(producer, (await producer.enqueue('unheard.of', 1, { queue: 'q' })).id)).toEqual(['q', 7])
  })
})

describe('a type known by its spec', () => {
  it('may be put into another queue, under another policy, or among another tenant’s jobs', async () => {
    await using pawl = await openAt(await PLACES.memory())
    const asked = async (options: object) => {
      const { id } = await pawl.enqueue(charge, { cents: 2 }, options)
      return kindOf(pawl, id)
    }
    expect(await asked({})).toEqual(['payments', 3])
    expect(await asked({ queue: 'bulk' })).toEqual(['bulk', 3])
    expect(await asked({ policy: { retry: { attempts: 1 } } })).toEqual(['payments', 1])
    const { id } = await pawl.enqueue(charge, { cents: 2 }, { tenant: 'other' })
    expect((await pawl.get(id))?.spec.kind.tenant).toBe('other')
  })

  it('is refused when it is defined, where no path or list could carry its names', () => {
    for (const [field, options] of [
      ['type', { type: '..' }],
      ['type', { type: '' }],
      ['type', { type: 'a,b' }],
      ['type', { type: 'a\u0000' }],
      ['queue', { type: 'a', queue: '.' }],
      ['queue', { type: 'a', queue: 'x'.repeat(129) }],
      ['tenant', { type: 'a', tenant: '' }],
    ] as const) {
      expect(() => defineSpec(options)).toThrow(new RegExp(`${field}: must`))
    }
    expect(defineSpec({ type: 'a/b', queue: 'x.' })).toMatchObject({ type: 'a/b', queue: 'x.' })
  })
})
