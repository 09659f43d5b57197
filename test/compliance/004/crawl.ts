/** A crawl of domains that answer as the test says, by a real worker; what it did is counted by domain. */
import type { PolicyInput } from '../../../src/core/resolve.ts'
import { defineJob } from '../../../src/library/define-job.ts'
import type { Pawl } from '../../../src/library/pawl.ts'
import { eventually } from '../../support/eventually.ts'
import { fresh } from '../actor.ts'
import { strict } from './jobs.ts'

export type Answering = (host: string) => void

export const fine: Answering = () => {}
export const failing =
  (code: string, headers: Readonly<Record<string, string>> = {}): Answering =>
  (host) => {
    throw Object.assign(new Error(`${host} says ${code}`), { code, headers })
  }

interface Page {
  readonly host: string
  /** That many of its domain are answered together. */
  readonly together: number
}

interface Count {
  running: number
  most: number
  answered: number
  read: number
  readonly sessions: number[]
}

interface Crawling {
  readonly concurrency?: number
  readonly retry?: PolicyInput['retry']
}

export type Crawl = ReturnType<typeof crawlOf>

export function crawlOf({ concurrency = 8, retry = {} }: Crawling = {}) {
  const counts = new Map<string, Count>()
  const of = (host: string): Count => {
    const count = counts.get(host) ?? { running: 0, most: 0, answered: 0, read: 0, sessions: [] }
    counts.set(host, count)
    return count
  }
  let pawl: Pawl | undefined
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  const waiting = new Map<string, (() => void)[]>()
  const met = ({ host, together }: Page): Promise<void> | undefined => {
    if (together <= 1) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const others = [...(waiting.get(host) ?? []), resolve]
    waiting.set(host, others.length >= together ? [] : others)
    if (others.length >= together) for (const each of others) each()
    return promise
  }
  const crawl = {
    answer: fine as Answering,
    job: defineJob({
      ...strict,
      type: fresh('crawl'),
      queue: fresh('crawl'),
      retry,
      limit: { key: ({ host }: Page) => host, concurrency },
      async run(page: Page, ctx) {
        const count = of(page.host)
        count.sessions.push(ctx.flow?.session ?? -1)
        count.running += 1
        count.most = Math.max(count.most, count.running)
        try {
          await (ctx.attempt === 1 ? met(page) : undefined)
          await gate.promise
          await new Promise((resolve) => setImmediate(resolve))
          crawl.answer(page.host)
          count.read += 1
        } finally {
          count.running -= 1
          count.answered += 1
        }
      },
    }),
    on: (where: Pawl): void => {
      pawl = where
    },
    /** So many of them, which are answered once all of them run. */
    burst: (host: string, count: number) => enqueue({ host, together: count }, count),
    pages: (host: string, count: number) => enqueue({ host, together: 1 }, count),
    /** Nothing is answered until `release`. */
    hold: (): void => {
      gate = Promise.withResolvers<void>()
    },
    release: (): void => gate.resolve(),
    until: (what: string, probe: () => boolean | Promise<boolean>) => eventually(what, probe),
    running: (host: string) => of(host).running,
    most: (host: string) => of(host).most,
    answered: (host: string) => of(host).answered,
    read: (host: string) => of(host).read,
    sessions: (host: string): readonly number[] => of(host).sessions,
    /** Counts the most at once anew. */
    forget: (host: string): void => {
      of(host).most = 0
    },
  }
  const enqueue = async (page: Page, count: number): Promise<readonly string[]> => {
    const handles = (await pawl?.enqueueMany(crawl.job, new Array<Page>(count).fill(page))) ?? []
    return handles.map(({ id }) => id)
  }
  return crawl
}

/** With a worker of its own. */
export function crawlOn(pawl: Pawl, options?: Crawling): Crawl & AsyncDisposable {
  const crawl = crawlOf(options)
  crawl.on(pawl)
  const worker = pawl.work([crawl.job], { concurrency: 32, poll: 20 })
  return Object.assign(crawl, {
    async [Symbol.asyncDispose](): Promise<void> {
      crawl.release()
      await worker.stop({ drain: 0 })
    },
  })
}
