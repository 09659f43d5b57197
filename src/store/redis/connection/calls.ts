/**
 * Scripts, called by their hash. Each carries the epoch that this process has joined; another life of the server answers `REJOIN` and
 * does nothing, whereupon the process joins, and the method that called makes its words anew, because numbers may have other meanings now.
 *
 * Modes: joined; joining (calls wait for it; so after every new connection); closed.
 */
import type { Clock } from '../../../system/clock.ts'
import type { LedgerStanding, Meter } from '../../../system/meter.ts'
import type { Random } from '../../../system/random.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Finding } from '../../ledger/finding.ts'
import { REJOIN, type ScriptName, scriptTexts } from '../script/scripts.ts'
import type { Backing, EvictedJobs, Server } from './backing.ts'
import { alone } from './join.ts'
import type { Link } from './link.ts'
import { type Reply, word } from './reply.ts'
import {
  behind,
  closed,
  codeIn,
  isBehind,
  isFull,
  isPassing,
  isUnknownScript,
  mayBeDone,
  NotJoined,
  overloaded,
  Unfinished,
  unavailable,
} from './trouble.ts'

export interface CallsParts {
  readonly link: Link
  readonly prefix: string
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  readonly random: Random
  /** How long a call is repeated while the server is away. */
  readonly retryForMs: number
  /** For tests: by how much the server's clock is taken to be set. */
  readonly clockSetByMs: () => number
  /** The script texts; tests bring theirs. */
  readonly scripts?: Readonly<Record<ScriptName, string>> | undefined
  /** Nobody counts unless given. */
  readonly meter?: Meter | undefined
  /** What stands behind the server; nothing unless given. */
  readonly backing?: ((server: Server) => Backing) | undefined
}

/** The server is another than the one that was joined: nothing was done. */
class Rejoined extends Error {}

/** Those that write, and give their call a name. */
const NAMED: ReadonlySet<ScriptName> = new Set([
  'insert',
  'claim',
  'commit',
  'heartbeat',
  'due',
  'outdated',
  'unjudged',
  'settings',
  'intern',
  'apply',
  'evict',
  'restore',
])

const PAUSE_MS = 25
const PAUSE_MOST_MS = 250

export class Calls {
  readonly #parts: CallsParts
  readonly #texts: Readonly<Record<ScriptName, string>>
  /** Loaded into the server that the link leads to now, as far as is known. */
  readonly #hashes = new Map<ScriptName, Promise<string>>()
  readonly #process: string
  readonly #backing: Backing
  readonly #forgets: (() => void)[] = []
  #named = 0
  /** Counts lives of the server, as far as this process has noticed: what was remembered of one means nothing in the next. */
  #life = 0
  #joined: { readonly connection: number; readonly epoch: Promise<string> } | undefined
  /** The latest time that was told: none that is told later lies before it. */
  #now = 0
  #closed = false

  constructor(parts: CallsParts) {
    this.#parts = parts
    this.#texts = parts.scripts ?? scriptTexts()
    this.#process = parts.random.hex64()
    const server: Server = {
      process: this.#process,
      meta: this.meta,
      send: (words) => parts.link.send(words),
      run: (name, args) => this.#run(name, args),
    }
    this.#backing = parts.backing?.(server) ?? alone(server, parts.clockSetByMs)
  }

  get meta(): string {
    return `{${this.#parts.prefix}:0}:meta`
  }

  get channel(): string {
    return `{${this.#parts.prefix}:0}:hint`
  }

  /** Once the server is joined. */
  async compared(told: (pieces: number) => void): Promise<readonly Finding[]> {
    await this.#epoch()
    return this.#backing.compared(told)
  }

  /** Of a server that something stands behind. */
  get standing(): (() => Promise<LedgerStanding>) | undefined {
    const { standing } = this.#backing
    return standing && (() => standing.call(this.#backing))
  }

  /** Of a server from which jobs can leave. */
  get evicted(): EvictedJobs | undefined {
    return this.#backing.evicted
  }

  /** Whether a call of this name was this process's. */
  isOwn(name: string): boolean {
    return name.startsWith(`${this.#process}.`)
  }

  /** What is to be forgotten when the server is another. */
  onRejoin(forget: () => void): void {
    this.#forgets.push(forget)
  }

  get life(): number {
    return this.#life
  }

  /**
   * Does some work made of calls, again from its beginning where the server was away meanwhile, or is another. Who is told that there is no
   * room is told that nothing was written: so not where some of it was, or may have been; then room is waited for. `isTouched`: of what the
   * work itself knows to be written.
   */
  async repeated<T>(work: () => Promise<T>, isTouched: () => boolean = () => false): Promise<T> {
    const { clock, timers, retryForMs, link } = this.#parts
    const untilMs = clock.monotonicMs() + retryForMs
    let mayBeTouched = false
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(PAUSE_MOST_MS, pauseMs * 2)) {
      if (this.#closed) throw closed()
      const life = this.#life
      try {
        const done = await work()
        // Else what it has read may be of two lives: numbers of the one, by what they mean in the other.
        if (life === this.#life) return done
      } catch (thrown) {
        if (this.#closed) throw closed()
        const error = thrown instanceof Unfinished ? thrown.cause : thrown
        mayBeTouched ||= thrown instanceof Unfinished || mayBeDone(error) || isTouched()
        if (!mayBeTouched && isFull(error)) throw overloaded(error)
        if (!mayBeTouched && isBehind(error)) throw behind(error)
        if (error instanceof Rejoined || life !== this.#life) continue
        if (!isPassing(error) && !isFull(error) && !isBehind(error)) throw error
        if (clock.monotonicMs() >= untilMs) throw unavailable(link.where, error)
        await timers.sleep(pauseMs)
      }
    }
  }

  /** One script. The first word of its answer is the time. `life`: the one that its words were made in; nothing is done in another. */
  async call(name: ScriptName, args: readonly string[], life = this.#life): Promise<readonly Reply[]> {
    if (this.#closed) throw closed()
    const { link } = this.#parts
    const { connections } = link
    const epoch = await this.#epoch().catch((error: unknown) => {
      throw isFull(error) ? new NotJoined(error) : error
    })
    if (life !== this.#life) throw new Rejoined()
    const own = NAMED.has(name) ? this.#nextName() : undefined
    const words = [epoch, String(this.#parts.clockSetByMs()), ...(own === undefined ? [] : [own]), ...args]
    // What is waited for before it is sent may take as long as a server takes to come back, or another in its place.
    let isAnswered = false
    const send = async () => {
      if (link.connections !== connections) throw new Rejoined()
      const reply = await this.#run(name, words)
      isAnswered = own !== undefined
      return reply
    }
    const answer = await this.#backing.answer({ script: name, epoch, name: own, send }).catch((error: unknown) => {
      throw isAnswered ? new Unfinished(error) : error
    })
    if (answer === undefined || answer[0] === REJOIN) {
      this.#forget()
      throw new Rejoined()
    }
    return answer
  }

  /** The time an answer tells, never before one that was told. */
  timeIn(answer: readonly Reply[]): number {
    this.#now = Math.max(this.#now, Number(word(answer[0])))
    return this.#now
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#backing.close()
  }

  #epoch(): Promise<string> {
    const { link } = this.#parts
    const connection = link.connections
    if (this.#joined?.connection === connection) return this.#joined.epoch
    const epoch = this.#backing.join()
    const before = this.#joined?.epoch
    this.#joined = { connection, epoch }
    const settled = epoch.then(async (mine) => {
      if (before !== undefined && (await before.catch(() => undefined)) !== mine) this.#forgetAll()
    })
    settled.catch(() => {
      if (this.#joined?.epoch === epoch) this.#joined = undefined
    })
    return settled.then(() => epoch)
  }

  #forget(): void {
    this.#joined = undefined
    this.#forgetAll()
  }

  #forgetAll(): void {
    this.#life += 1
    for (const forget of this.#forgets) forget()
  }

  async #run(name: ScriptName, args: readonly string[]): Promise<Reply> {
    const hash = await this.#hash(name)
    try {
      return await this.#parts.link.send(['EVALSHA', hash, '1', this.meta, ...args])
    } catch (error) {
      if (!isUnknownScript(error)) {
        const code = codeIn(error)
        if (!isPassing(error)) this.#parts.meter?.add('pawl_script_errors_total', 1, { script: name, code })
        throw error
      }
      this.#hashes.delete(name)
      return this.#parts.link.send(['EVALSHA', await this.#hash(name), '1', this.meta, ...args])
    }
  }

  #hash(name: ScriptName): Promise<string> {
    const known = this.#hashes.get(name)
    if (known !== undefined) return known
    const loading = this.#parts.link.send(['SCRIPT', 'LOAD', this.#texts[name]]).then(word)
    loading.catch(() => this.#hashes.delete(name))
    this.#hashes.set(name, loading)
    return loading
  }

  #nextName(): string {
    this.#named += 1
    return `${this.#process}.${this.#named}`
  }
}
