/** Leases renewed, a batch in one statement; a job named twice waits for the next one. */
import { parseFence } from '../../../core/fence.ts'
import { idNumber } from '../../../core/id.ts'
import { storable } from '../../codec/text.ts'
import type { Beat, Beaten } from '../../store.ts'
import { Batcher } from '../batch/batcher.ts'
import { brokenUp, mayBreakUp } from '../batch/broken-up.ts'
import type { Connection } from '../connection/connection.ts'
import type { Statements } from '../connection/statements.ts'
import { claimOf } from '../names/step.ts'

export interface HeartbeatParts {
  readonly connection: Connection
  readonly statements: Statements
  readonly sawClock: (now: number) => void
}

const LOST: Beaten = { status: 'lost' }
const BUSY: Beaten = { status: 'busy' }
const CAREFUL: Beaten = { status: 'careful' }

export class Heartbeats {
  readonly #parts: HeartbeatParts
  readonly #batcher: Batcher<Beat, Timed>

  constructor(parts: HeartbeatParts) {
    this.#parts = parts
    this.#batcher = new Batcher({ run: (beats) => this.#beat(beats), sizeOf: () => 100 })
  }

  /** The leases end a window after the time that is answered, though another call may have seen a later one. */
  async heartbeat(
    beats: readonly Beat[],
  ): Promise<{ readonly items: readonly Beaten[]; readonly now: number | undefined }> {
    const answers = await this.#batcher.add(beats)
    return { items: answers.map(({ beaten }) => beaten), now: answers.findLast(({ now }) => now > 0)?.now }
  }

  close(): Promise<void> {
    return this.#batcher.close()
  }

  async #beat(beats: readonly Beat[]): Promise<readonly Timed[]> {
    const answers: Timed[] = beats.map(() => NOBODYS)
    let rest = beats.map((_, i) => i)
    while (rest.length > 0) {
      const seen = new Set<number>()
      const later: number[] = []
      const asked: { place: number; row: BeatRow }[] = []
      for (const place of rest) {
        const row = beatRow(beats[place] as Beat)
        if (row === undefined) continue
        if (seen.has(row.i)) later.push(place)
        else asked.push({ place, row })
        seen.add(row.i)
      }
      const timed = asked.length === 0 ? [] : await this.#askFor(asked.map(({ row }) => row))
      for (const [n, { place }] of asked.entries()) answers[place] = timed[n] as Timed
      rest = later
    }
    return answers
  }

  /** If a batch fails each lease is renewed alone; one that cannot be is `busy`, and the engine lets core decide its heartbeat. */
  async #askFor(rows: readonly BeatRow[]): Promise<readonly Timed[]> {
    try {
      return await this.#ask(rows)
    } catch (error) {
      if (rows.length === 1 || !mayBreakUp(error)) throw error
      const alone = async (row: BeatRow) => (await this.#ask([row]))[0] as Timed
      return brokenUp<BeatRow, Timed>(rows, alone, () => ({ now: 0, beaten: BUSY }))
    }
  }

  async #ask(rows: readonly BeatRow[]): Promise<readonly Timed[]> {
    const { connection, statements, sawClock } = this.#parts
    // Repeated after a lost answer it is a replay: the request id is on the lease.
    const [row] = await connection.run(statements.heartbeat, () => [JSON.stringify(rows)])
    const now = Number(row?.[0])
    sawClock(now)
    return (JSON.parse(String(row?.[1])) as Answer[]).map((answer) => ({ now, beaten: beaten(answer) }))
  }
}

interface Timed {
  readonly now: number
  readonly beaten: Beaten
}

const NOBODYS: Timed = { now: 0, beaten: LOST }

interface BeatRow {
  readonly i: number
  readonly f: number
  readonly x: string
  readonly q: string
}

type Answer = null | boolean | readonly [rev: number, beats: number, expiresAt: number, replayed: boolean]

/** Undefined where id or fence cannot be one that any store has given. */
function beatRow({ id, fence, requestId }: Beat): BeatRow | undefined {
  const i = idNumber(id)
  const parsed = parseFence(fence)
  if (i === undefined || parsed === undefined) return undefined
  const { generation, attempt, nonce } = parsed
  return { i, f: claimOf(generation, attempt), x: nonce, q: storable(requestId) }
}

function beaten(answer: Answer): Beaten {
  if (answer === null) return LOST
  if (typeof answer === 'boolean') return answer ? CAREFUL : BUSY
  const [rev, beats, leaseExpiresAt, replayed] = answer
  return { status: 'renewed', rev, beats, leaseExpiresAt, replayed }
}
