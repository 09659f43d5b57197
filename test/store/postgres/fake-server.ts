/** Servers that are up, away, silent or no primary, as a test says, in virtual time; and what was asked of them. */
import pg from 'pg'
import type { Client, Connect } from '../../../src/store/postgres/connection/client.ts'
import type { VirtualTime } from '../../../src/testing/virtual-time.ts'

export type Mood = 'up' | 'refuses' | 'silent' | 'standby'

export class FakeServers {
  readonly #time: VirtualTime
  readonly #moods = new Map<string, Mood>()
  readonly #open = new Set<() => void>()
  /** When somebody knocked, and where. */
  readonly knocks: { readonly ms: number; readonly where: string }[] = []
  /** Statements beside the greeting, and where. */
  readonly asked: { readonly text: string; readonly where: string }[] = []
  /** Happens to the next statement. */
  accident: (() => Error | undefined) | undefined

  constructor(time: VirtualTime) {
    this.#time = time
  }

  /** What they are like from now on; those that were let in are let out, unless it is `silent`. */
  turn(mood: Mood, where?: string): void {
    if (where === undefined) for (const each of this.#moods.keys()) this.#moods.set(each, mood)
    this.#moods.set(where ?? '', mood)
    if (mood !== 'silent') for (const end of [...this.#open]) end()
  }

  moodOf(where: string): Mood {
    return this.#moods.get(where) ?? this.#moods.get('') ?? 'up'
  }

  get connections(): number {
    return this.#open.size
  }

  readonly connect: Connect = ({ host }) => {
    const where = new URL(host.connectionString ?? '').host
    this.knocks.push({ ms: this.#time.monotonicMs(), where })
    let [sent, answered, received] = [0, 0, 0]
    let end = () => {}
    const waiting = new Set<(error: Error) => void>()
    const gone = new Promise<Error | undefined>((resolve) => {
      end = () => {
        this.#open.delete(end)
        for (const reject of waiting) reject(new Error('Connection terminated unexpectedly'))
        waiting.clear()
        resolve(undefined)
      }
    })
    const reply = <T>(answer: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        waiting.add(reject)
        const mood = this.moodOf(where)
        if (mood === 'silent') return
        waiting.delete(reject)
        if (mood === 'refuses')
          reject(Object.assign(new Error(`connect ECONNREFUSED ${where}`), { code: 'ECONNREFUSED' }))
        else resolve(answer())
      })
    const query: Client['query'] = async ({ text }) => {
      sent += 1
      const isGreeting = text.includes('pg_backend_pid()') || text.includes('set_config')
      if (!isGreeting) this.asked.push({ text, where })
      const accident = isGreeting ? undefined : this.accident?.()
      const rows = await reply(() => {
        received += 1
        answered = sent
        return [[1, this.moodOf(where) === 'standby', false, '2026-01-01']]
      })
      if (accident !== undefined) throw accident
      return { rows }
    }
    return {
      where,
      connect: () => reply(() => void this.#open.add(end)),
      query,
      end: async () => end(),
      destroy: () => end(),
      gone,
      heard: () => {},
      noticed: () => {},
      processId: () => 1,
      traffic: () => ({ sent, received, answered }),
      // Never connected.
      driver: new pg.Client(),
    }
  }
}
