/** Queue documents: paused or not, by whom and since when. Whatever else a document says is kept. */
import type { Time } from '../core/job.ts'
import { queueKey, type Setting } from '../store/store.ts'
import { countOf } from './documents.ts'
import type { Engine } from './engine.ts'

export interface Pause {
  readonly by: string | undefined
  readonly since: Time | undefined
}

const TRIES = 10

export class Queues {
  readonly #engine: Pick<Engine, 'settings' | 'now'>

  constructor(engine: Pick<Engine, 'settings' | 'now'>) {
    this.#engine = engine
  }

  /** While it is paused, nothing of the queue is given to workers. What runs goes on. */
  async pause(tenant: string, queue: string, by: string): Promise<void> {
    await this.#change(tenant, queue, { paused: true, by, since: this.#engine.now() })
  }

  async resume(tenant: string, queue: string): Promise<void> {
    await this.#change(tenant, queue, { paused: false, by: undefined, since: undefined })
  }

  /** Whether something is written down about it. */
  async isKnown(tenant: string, queue: string): Promise<boolean> {
    return (await this.#read(tenant, queue)) !== undefined
  }

  /** About how many something is, counted up to `most`. Of those that were paused once and nothing else nobody needs to know. */
  count(tenant: string, most: number): Promise<number> {
    return countOf(this.#engine, 'queue', tenant, most, (setting) => isAsNew(documentOf(setting)))
  }

  async paused(tenant: string, queue: string): Promise<Pause | undefined> {
    return pauseIn(documentOf(await this.#read(tenant, queue)))
  }

  /** Which of these queues are paused, by whom and since when, in one question. */
  async pausesAmong(tenant: string, queues: readonly string[]): Promise<ReadonlyMap<string, Pause>> {
    if (queues.length === 0) return new Map()
    const get = (queue: string) => ({ op: 'get', collection: 'queue', key: queueKey(tenant, queue) }) as const
    const answers = await this.#engine.settings(queues.map(get))
    const found = new Map<string, Pause>()
    for (const [i, queue] of queues.entries()) {
      const pause = pauseIn(documentOf(answers[i]?.settings[0]))
      if (pause !== undefined) found.set(queue, pause)
    }
    return found
  }

  /** Tells all workers, here and elsewhere, to look at the queue now: its document is written as it is. */
  async wake(tenant: string, queue: string): Promise<void> {
    const there = await this.#read(tenant, queue)
    const text = there?.text ?? JSON.stringify({ paused: false })
    const key = queueKey(tenant, queue)
    // Another write was faster: that one wakes the workers, too.
    await this.#engine.settings([{ op: 'put', collection: 'queue', key, text, rev: there?.rev ?? 0 }])
  }

  async #change(tenant: string, queue: string, change: Readonly<Record<string, unknown>>): Promise<void> {
    const key = queueKey(tenant, queue)
    let there = await this.#read(tenant, queue)
    for (let n = 0; n < TRIES; n += 1) {
      const text = JSON.stringify({ ...documentOf(there), ...change })
      const [answer] = await this.#engine.settings([
        { op: 'put', collection: 'queue', key, text, rev: there?.rev ?? 0 },
      ])
      if (answer?.status === 'ok') return
      there = answer?.settings[0]
    }
    throw new Error(`Queue ${queue} was changed by others ${TRIES} times in a row.`)
  }

  async #read(tenant: string, queue: string): Promise<Setting | undefined> {
    const key = queueKey(tenant, queue)
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'queue', key }])
    return answer?.settings[0]
  }
}

const documentOf = (setting: Setting | undefined): Readonly<Record<string, unknown>> =>
  setting === undefined ? {} : (JSON.parse(setting.text) as Readonly<Record<string, unknown>>)

function pauseIn({ paused, by, since }: Readonly<Record<string, unknown>>): Pause | undefined {
  if (paused !== true) return undefined
  return {
    by: typeof by === 'string' ? by : undefined,
    since: typeof since === 'number' ? since : undefined,
  }
}

/** A document that says no more than none would: the queue was paused once and is not any more. */
const isAsNew = ({ paused, by: _by, since: _since, ...rest }: Readonly<Record<string, unknown>>): boolean =>
  paused === false && Object.keys(rest).length === 0
