/** pawl as a user has it: `open`, `enqueueMany`, `work`; full event history, ticker and retention running. */
import type { Pawl } from '../../src/library/pawl.ts'
import { type Build, built } from '../build.ts'
import type { Contender, Payload, WorkOptions } from '../contender.ts'

/** What handlers of a worker usually are. No-ops end before the next begins: 32, 128 and 256 drained the same within 5 %. */
const CONCURRENCY = 64

/** The same with V8 told what `pawl work` tells it in a process of its own; `open` tells it nothing. */
export async function asPawlWork(): Promise<Contender> {
  const { withoutPretenuring } = await import('../../src/system/pretenuring.ts')
  const contender = await pawl('pawl-work', 'now')
  const configuration = `${contender.configuration}; --no-allocation-site-pretenuring`
  return {
    ...contender,
    configuration,
    connect(...where) {
      withoutPretenuring()
      return contender.connect(...where)
    },
  }
}

export async function pawl(name: string, build: Build, store: Contender['store'] = 'postgres'): Promise<Contender> {
  const { defineJob, open } = await built(build)
  const noop = (handle: WorkOptions['handle'] = () => {}) =>
    defineJob<'noop', Payload, void>({
      type: 'noop',
      queue: 'bench',
      run: (payload, context) => handle(payload, (name, work) => context.step(name, work)),
    })
  const producing = noop()
  const working = (opened: Pawl, { handle, concurrency }: WorkOptions) => {
    const worker = opened.work([noop(handle)], { concurrency: concurrency ?? CONCURRENCY })
    return { settled: async () => worker.held === 0, stop: () => worker.stop({ drain: 0 }) }
  }
  return {
    name,
    build,
    store,
    share: 1,
    keeps: 'the record and an event per transition, until retention',
    configuration: `defaults; concurrency ${CONCURRENCY}`,
    async prepare(url) {
      const opened = await open(url, { migrate: true, ticker: false, retention: false })
      await opened.close()
    },
    async connect(url, role) {
      const upkeep = role === 'worker' ? {} : ({ ticker: false, retention: false } as const)
      const opened = await open(url, upkeep)
      return {
        async bulk(payloads, { delayMs }) {
          const delay = delayMs === undefined ? {} : { delay: delayMs }
          const each = payloads[0]?.key === undefined ? {} : { each: ({ key }: Payload) => ({ dedupeKey: key }) }
          await opened.enqueueMany(producing, payloads, { ...delay, ...each })
        },
        async one(payload) {
          await opened.enqueue(producing, payload)
        },
        work: async (options) => working(opened, options),
        close: () => opened.close(),
      }
    },
  }
}
