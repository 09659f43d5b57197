/** Every call ends in the time it is given, whatever the store does. */
import { getEventListeners } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { GatewayUnavailable, Http } from '../../src/client/http.ts'
import { CallTimedOut, defineSpec, Invalid, implementJob, open, type Pawl, WaitTimedOut } from '../../src/index.ts'
import { openOn } from '../../src/open.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { realClock } from '../../src/system/clock.ts'
import { realTimers } from '../../src/system/timers.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'
import { eventually } from '../support/eventually.ts'

const mail = defineSpec({ type: 'mail' })

/** A store that has gone silent: nothing is answered any more, and nothing is refused. */
function silentStore(): Store {
  const store = openMemoryStore({ clock: realClock })
  const silent = new Set<PropertyKey>(['insert', 'load', 'claim', 'commit', 'find', 'events', 'settings'])
  return new Proxy(store, {
    get(target, name) {
      if (silent.has(name)) return () => new Promise(() => {})
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

interface Bounds {
  readonly timeout?: number
  readonly signal?: AbortSignal
}

/** Every method that asks anything of the store, as a user calls it. */
const CALLS: Readonly<Record<string, (pawl: Pawl, bounds: Bounds) => Promise<unknown>>> = {
  enqueue: (pawl, bounds) => pawl.enqueue(mail, 1, bounds),
  'enqueue by name': (pawl, bounds) => pawl.enqueue('mail', 1, bounds),
  enqueueMany: (pawl, bounds) => pawl.enqueueMany(mail, [1, 2], bounds),
  'enqueueMany, atomic': (pawl, bounds) => pawl.enqueueMany(mail, [1, 2], { ...bounds, atomic: true }),
  enqueueEach: (pawl, bounds) => pawl.enqueueEach(mail, [1, 2], bounds),
  get: (pawl, bounds) => pawl.get('pj_1', bounds),
  body: (pawl, bounds) => pawl.body('pj_1', 'input', bounds),
  find: (pawl, bounds) => pawl.find({}, bounds),
  'events of a job': (pawl, bounds) => pawl.events('pj_1', bounds),
  'events of many': (pawl, bounds) => pawl.events({ after: '' }, bounds),
  result: (pawl, bounds) => pawl.result('pj_1', bounds),
  cancel: (pawl, bounds) => pawl.cancel('pj_1', bounds),
  signal: (pawl, bounds) => pawl.signal('pj_1', 'go', 1, bounds),
  reschedule: (pawl, bounds) => pawl.reschedule('pj_1', bounds),
  reopen: (pawl, bounds) => pawl.reopen('pj_1', bounds),
  redrive: (pawl, bounds) => pawl.redrive({}, bounds),
  pause: (pawl, bounds) => pawl.pause('q', bounds),
  resume: (pawl, bounds) => pawl.resume('q', bounds),
  wake: (pawl, bounds) => pawl.wake('q', bounds),
  explain: (pawl, bounds) => pawl.explain('pj_1', bounds),
  verify: (pawl, bounds) => pawl.verify({}, bounds),
  'handle.result': (pawl, bounds) => pawl.handle('pj_1').result(bounds),
  'handle.job': (pawl, bounds) => pawl.handle('pj_1').job(bounds),
  admit: (pawl, bounds) => pawl.admit('pj_1', bounds),
  deny: (pawl, bounds) => pawl.deny('pj_1', { reason: 'no', ...bounds }),
  approve: (pawl, bounds) => pawl.approve('pj_1', bounds),
  replay: (pawl, bounds) =>
    pawl.replay(
      'pj_1',
      implementJob(mail, () => undefined),
      bounds,
    ),
  schedule: (pawl, bounds) => pawl.schedule('nightly', { every: '1d', ...bounds }, mail),
  'handle.state': (pawl, bounds) => pawl.handle('pj_1').state(bounds),
  'handle.input': (pawl, bounds) => pawl.handle('pj_1').input(bounds),
  'handle.events': (pawl, bounds) => pawl.handle('pj_1').events(bounds),
  'handle.explain': (pawl, bounds) => pawl.handle('pj_1').explain(bounds),
  'handle.cancel': (pawl, bounds) => pawl.handle('pj_1').cancel(bounds),
  'handle.signal': (pawl, bounds) => pawl.handle('pj_1').signal('go', 1, bounds),
  'handle.reschedule': (pawl, bounds) => pawl.handle('pj_1').reschedule(bounds),
  'handle.reopen': (pawl, bounds) => pawl.handle('pj_1').reopen(bounds),
  'schedules.add': ({ schedules }, bounds) => schedules.add('nightly', { every: '1d', ...bounds }, 'mail'),
  'schedules.list': ({ schedules }, bounds) => schedules.list(bounds),
  'schedules.get': ({ schedules }, bounds) => schedules.get('nightly', bounds),
  'schedules.next': ({ schedules }, bounds) => schedules.next('nightly', 1, bounds),
  'schedules.pause': ({ schedules }, bounds) => schedules.pause('nightly', bounds),
  'schedules.resume': ({ schedules }, bounds) => schedules.resume('nightly', bounds),
  'schedules.remove': ({ schedules }, bounds) => schedules.remove('nightly', bounds),
  'schedules.run': ({ schedules }, bounds) => schedules.run('nightly', bounds),
  'schedules.reconcile': ({ schedules }, bounds) => schedules.reconcile(bounds),
  'limits.set': ({ limits }, bounds) => limits.set('key', { concurrency: 1 }, bounds),
  'limits.reset': ({ limits }, bounds) => limits.reset('key', bounds),
  'limits.rm': ({ limits }, bounds) => limits.rm('key', bounds),
  'limits.probe': ({ limits }, bounds) => limits.probe('key', bounds),
  'limits.get': ({ limits }, bounds) => limits.get('key', bounds),
  'limits.list': ({ limits }, bounds) => limits.list(bounds),
  'limits.repair': ({ limits }, bounds) => limits.repair(bounds),
  'operations.start': ({ operations }, bounds) =>
    operations.start({ action: 'cancel', query: 'state:queued', ...bounds }),
  'operations.list': ({ operations }, bounds) => operations.list(bounds),
  'operations.get': ({ operations }, bounds) => operations.get('pj_1', bounds),
  'operations.result': ({ operations }, bounds) => operations.result('pj_1', bounds),
  'operations.cancel': ({ operations }, bounds) => operations.cancel('pj_1', bounds),
  'policies.set': ({ policies }, bounds) => policies.set('mine', 'rules: []', bounds),
  'policies.get': ({ policies }, bounds) => policies.get('mine', bounds),
  'policies.list': ({ policies }, bounds) => policies.list(bounds),
  'policies.rm': ({ policies }, bounds) => policies.rm('mine', bounds),
  'contract.heartbeat': ({ contract }, bounds) =>
    contract.heartbeat({ jobId: 'pj_1', fence: 'f', requestId: 'r', ...bounds }),
  'contract.fail': ({ contract }, bounds) =>
    contract.fail({ jobId: 'pj_1', fence: 'f', requestId: 'r', error: { code: 'x', message: 'm' }, ...bounds }),
  'contract.requeueStalled': ({ contract }, bounds) =>
    contract.requeueStalled({ jobId: 'pj_1', requestId: 'r', ...bounds }),
  'contract.enqueue': ({ contract }, bounds) => contract.enqueue({ kind: mail, requestId: 'r', ...bounds }),
  'contract.claimNext': ({ contract }, bounds) =>
    contract.claimNext({ workerId: 'w', lanes: [], requestId: 'r', ...bounds }),
  'contract.start': ({ contract }, bounds) => contract.start({ jobId: 'pj_1', fence: 'f', requestId: 'r', ...bounds }),
  'contract.complete': ({ contract }, bounds) =>
    contract.complete({ jobId: 'pj_1', fence: 'f', requestId: 'r', ...bounds }),
  'contract.stall': ({ contract }, bounds) => contract.stall({ jobId: 'pj_1', requestId: 'r', ...bounds }),
}

/** Methods of the library that ask nothing of the store, or are about something else than one call. */
const NOT_CALLS = new Set([
  'handle',
  'work',
  'close',
  'machine',
  'contract',
  'engine',
  'tenant',
  'accompanied',
  'constructor',
  'schedules.constructor',
  'schedules.define',
  'limits.constructor',
  'operations.constructor',
  'operations.serve',
  'operations.close',
  'policies.constructor',
])

/** What has calls of its own. */
const desksOf = ({ schedules, limits, operations, policies }: Pawl) => ({ schedules, limits, operations, policies })

describe.each(Object.entries(CALLS))('%s', (name, call) => {
  const silent = () => openOn(silentStore(), { ticker: false, retention: false, log: 'silent' })

  it('rejects when its time is over', async () => {
    const error = await call(silent(), { timeout: 20 }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(name.endsWith('result') ? WaitTimedOut : CallTimedOut)
    expect(error).toMatchObject({ code: 'CALL_TIMED_OUT', waitedMs: 20 })
    expect((error as Error).message).toMatch(/20 ms/)
  })

  it('rejects with the reason of its signal, before and after it was made', async () => {
    const gone = new Error('the request was cancelled')
    const pawl = silent()
    await expect(call(pawl, { signal: AbortSignal.abort(gone) })).rejects.toBe(gone)
    const later = new AbortController()
    const under = call(pawl, { signal: later.signal, timeout: 60_000 })
    later.abort(gone)
    await expect(under).rejects.toBe(gone)
  })

  it('refuses a time that is none', async () => {
    await expect(call(silent(), { timeout: -1 })).rejects.toBeInstanceOf(Invalid)
  })
})

describe('calls', () => {
  it('are all of them in the table above', async () => {
    const pawl = openOn(openMemoryStore({ clock: realClock }), { ticker: false, retention: false, log: 'silent' })
    await using _ = pawl
    const handle = pawl.handle('pj_1')
    const methods = (of: object) => Object.getOwnPropertyNames(Object.getPrototypeOf(of))
    const called = new Set(Object.keys(CALLS).map((name) => name.split(/[ ,]/)[0]))
    const missing = [
      ...methods(pawl).filter((method) => !NOT_CALLS.has(method) && !called.has(method)),
      ...methods(handle).filter((method) => method !== 'constructor' && !called.has(`handle.${method}`)),
      ...Object.entries(desksOf(pawl))
        .flatMap(([name, desk]) => methods(desk).map((method) => `${name}.${method}`))
        .filter((method) => !NOT_CALLS.has(method) && !called.has(method)),
      ...Object.keys(pawl.contract).filter((method) => !called.has(`contract.${method}`)),
    ]
    expect(missing).toEqual([])
  })

  it('leave no timer and no listener behind once they are answered', async () => {
    await using pawl = openOn(openMemoryStore({ clock: realClock }), {
      ticker: false,
      retention: false,
      log: 'silent',
    })
    const { signal } = new AbortController()
    const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
    const before = timers()
    for (let n = 0; n < 5; n += 1) await pawl.enqueue(mail, n, { timeout: '1h', signal })
    expect(timers()).toBe(before)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('over HTTP are called off with their requests, tries to come included', async () => {
    await using gone = await deafServer()
    await using pawl = await open(gone.url, { log: 'silent' })
    await expect(pawl.get('pj_1', { timeout: 200 })).rejects.toBeInstanceOf(CallTimedOut)
    await expect(pawl.enqueue(mail, 1, { timeout: 200 })).rejects.toBeInstanceOf(CallTimedOut)
    await eventually('the requests to be given up', () => gone.open() === 0)
    await using shut = await open('http://127.0.0.1:1', { log: 'silent' })
    await expect(shut.get('pj_1', { timeout: 50 })).rejects.toBeInstanceOf(CallTimedOut)
    const busy = new AbortController()
    let asked = 0
    const fetch: typeof globalThis.fetch = async () => {
      asked += 1
      busy.abort(new Error('enough'))
      return new Response('', { status: 503, headers: { 'retry-after': '3600' } })
    }
    const http = new Http({ url: 'http://x.example', token: undefined, timers: realTimers, clock: realClock, fetch })
    await expect(http.until(busy.signal).request('GET', '/v1/jobs')).rejects.toThrow('enough')
    expect(asked).toBe(1)
  })
})

describe('a call that asks more than once', () => {
  const ASKS: Readonly<Record<string, (pawl: Pawl, bounds: Bounds) => Promise<unknown>>> = {
    'schedules.add': (pawl, bounds) => pawl.schedules.add('weekly', { every: '7d', ...bounds }, 'mail'),
    'schedules.pause': (pawl, bounds) => pawl.schedules.pause('nightly', bounds),
    'schedules.run': (pawl, bounds) => pawl.schedules.run('nightly', bounds),
    'schedules.remove': (pawl, bounds) => pawl.schedules.remove('nightly', bounds),
    'schedules.reconcile': (pawl, bounds) => pawl.schedules.reconcile({ remove: true, ...bounds }),
    approve: (pawl, bounds) => pawl.approve('pj_1', bounds),
  }

  it.each(Object.entries(ASKS))('has one time for all of it: %s', async (_, call) => {
    const time = new VirtualTime(0)
    let askedMs = 0
    const store = openMemoryStore({ clock: time })
    const slow = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...words: unknown[]) => time.sleep(askedMs).then(() => Reflect.apply(value, target, words))
      },
    })
    const services = { ticker: false, retention: false, log: 'silent' } as const
    const before = openOn(store, { clock: time, timers: time, ...services })
    await before.schedule('nightly', { every: '1d' }, mail)
    const pawl = openOn(slow, { clock: time, timers: time, ...services })
    askedMs = 40_000
    const told = call(pawl, { timeout: 60_000 }).catch((error: unknown) => error)
    let settledMs: number | undefined
    void told.then(() => {
      settledMs = time.monotonicMs()
    })
    await time.advance(600_000)
    expect(await told).toBeInstanceOf(CallTimedOut)
    expect(settledMs).toBe(60_000)
  })
})

it('a call over HTTP ends by its signal or with the client, and leaves no listener behind', async () => {
  const signals: AbortSignal[] = []
  const fetch: typeof globalThis.fetch = (_, init) => {
    const { signal } = init ?? {}
    if (!(signal instanceof AbortSignal)) throw new Error('every request has a signal')
    signals.push(signal)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const http = new Http({ url: 'http://x.example', token: undefined, timers: realTimers, clock: realClock, fetch })
  const [one, two] = [new AbortController(), new AbortController()]
  const first = http.until(one.signal).request('GET', '/v1/jobs')
  const second = http.until(two.signal).request('GET', '/v1/jobs')
  const third = http.request('GET', '/v1/jobs')
  one.abort(new Error('enough'))
  await expect(first).rejects.toThrow('enough')
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false, false])
  http.close()
  for (const call of [second, third, http.until(two.signal).request('GET', '/v1/jobs')])
    await expect(call).rejects.toBeInstanceOf(GatewayUnavailable)
  expect(signals).toHaveLength(3)
  for (const { signal } of [one, two]) expect(getEventListeners(signal, 'abort')).toEqual([])
})

/** Takes every request and answers none. */
async function deafServer() {
  let open = 0
  const server: Server = createServer((request) => {
    open += 1
    request.socket.once('close', () => (open -= 1))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
