/**
 * The scheduler's half of document 002 that picks pool and subject: hears which squads have room, and dispatches to each of them by itself.
 * Modes, for each squad: not its turn; waiting for room; waiting for jobs, at most a second, since room is soon out of date.
 */
import type { Msg } from '@nats-io/transport-node'
import { AT_ONCE } from '../core/limits.ts'
import type { Caps } from '../gateway/caps.ts'
import { BODY_BYTES } from '../gateway/contract/route.ts'
import { type Service, service } from '../system/service.ts'
import { Attendance } from './attendance.ts'
import { Dispatching, type DispatchingParts } from './dispatching.ts'
import { heartbeat, read, start } from './messages.ts'
import { AckPolicy } from './policies.ts'
import type { Squad } from './squad.ts'
import { consumerOf, streamsOf, subjectsOf, turnOf } from './subjects.ts'
import { ASK_AGAIN_MS, Turn } from './turn.ts'

export interface DispatcherParts extends DispatchingParts {
  readonly caps: Caps
  readonly monotonicMs: () => number
}

/** How long a squad waits for room, and what failed for another try. */
const ROOM_MS = 200
const AGAIN_MS = 500
/** A dispatch that its worker has neither begun nor given back is another worker's after this long. */
const BEGUN_WITHIN_NS = 5_000_000_000
/** A squad that nobody has asked for so long is forgotten by NATS, too: names are easily made up. */
const FORGOTTEN_NS = 3_600_000_000_000

export class Dispatcher implements AsyncDisposable {
  readonly #parts: DispatcherParts
  readonly #attendance: Attendance
  readonly #services = new Map<string, Service>()
  /** Those that were told to stop and have not ended yet. */
  readonly #leaving = new Set<Promise<void>>()
  readonly #listening: readonly { unsubscribe(): void }[]

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#attendance = new Attendance(parts.caps, parts.monotonicMs)
    const { connection } = parts.link
    const subjects = subjectsOf(parts.tenant)
    const hear = (subject: string, heard: (text: string) => void) =>
      connection.subscribe(subject, {
        callback: (error: Error | null, message: Msg) => void (error === null && heard(message.string())),
      })
    this.#listening = [
      hear(subjects.heartbeat, (text) => this.#heard(text)),
      hear(subjects.start, (text) => {
        const said = read(start, text)
        if (said.ok) this.#attendance.began(said.value.worker_id)
      }),
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#listening) each.unsubscribe()
    await Promise.all([...this.#services.values()].map((each) => each.stop()))
    await Promise.all(this.#leaving)
  }

  #heard(text: string): void {
    const said = read(heartbeat, text, BODY_BYTES.lists)
    const heard = said.ok ? this.#attendance.heard(said.value) : undefined
    if (heard?.ok !== true) return
    const known = this.#services.get(heard.name)
    if (known === undefined) this.#serve(heard.squad, heard.name)
    else known.wake()
  }

  #serve(squad: Squad, name: string): void {
    const { link, tenant, timers, monotonicMs, log } = this.#parts
    const turn = new Turn(link, turnOf(tenant).squad(squad), monotonicMs)
    const dispatching = new Dispatching(this.#parts, squad)
    let isPrepared = false
    const round = async (signal: AbortSignal) => {
      if (this.#attendance.freeIn(name) === undefined) return this.#leave(name)
      // Where something fails, it may be that NATS has forgotten what was prepared.
      const wasPrepared = isPrepared
      isPrepared = false
      if (!wasPrepared) await this.#prepare(squad)
      const pauseMs = (await turn.take()) ? await this.#dispatch(squad, name, dispatching, signal) : ASK_AGAIN_MS
      isPrepared = true
      return pauseMs
    }
    const loop = service({ name: `bus ${squad.pool}`, everyMs: AGAIN_MS, timers, log, round })
    this.#services.set(name, loop)
    loop.start()
  }

  async #dispatch(squad: Squad, name: string, dispatching: Dispatching, signal: AbortSignal): Promise<number> {
    // In this order: a job that is begun in between counts in both. The other way round it would count in neither, and its place be given twice.
    const underWay = await this.#underWay(squad)
    const limit = Math.min((this.#attendance.freeIn(name) ?? 0) - underWay, AT_ONCE.jobs)
    if (limit <= 0) return ROOM_MS
    await dispatching.some(limit, signal)
    return 0
  }

  #leave(name: string): number {
    const loop = this.#services.get(name)
    this.#services.delete(name)
    if (loop !== undefined) {
      // Not waited for: it is the round of this very loop that has found out.
      const ended = loop.stop().then(() => void this.#leaving.delete(ended))
      this.#leaving.add(ended)
    }
    return 0
  }

  /** Its workers take from one consumer, which is there before the first of them asks. */
  async #prepare(squad: Squad): Promise<void> {
    const { link, tenant } = this.#parts
    await link.manager.consumers.add(streamsOf(tenant).dispatches, {
      durable_name: consumerOf(tenant, squad).name,
      filter_subject: subjectsOf(tenant).dispatch(squad),
      ack_policy: AckPolicy.Explicit,
      ack_wait: BEGUN_WITHIN_NS,
      max_ack_pending: AT_ONCE.jobs * 10,
      max_waiting: AT_ONCE.jobs * 10,
      inactive_threshold: FORGOTTEN_NS,
    })
  }

  /** Dispatches that no worker has begun yet. */
  async #underWay(squad: Squad): Promise<number> {
    const { link, tenant } = this.#parts
    const info = await link.manager.consumers.info(streamsOf(tenant).dispatches, consumerOf(tenant, squad).name)
    return info.num_pending + info.num_ack_pending
  }
}
