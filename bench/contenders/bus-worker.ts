/** A worker that speaks nothing but the bus, as fast as its protocol lets it (docs/bus.md). */
import { connect, createInbox, type Msg, type NatsConnection } from '@nats-io/transport-node'
import { subjectsOf } from '../../src/bus/subjects.ts'
import { DEFAULT_TENANT } from '../../src/core/job.ts'
import type { Connection, Payload, Working, WorkOptions } from '../contender.ts'

/** How long it asks for dispatches at a time, for an answer, and how soon it tells that it has room again. */
const TAKE_MS = 1_000
const ANSWER_MS = 5_000
const TELL_MS = 5
/** Heard so often though nothing has changed. */
const BEAT_MS = 2_000

interface Dispatch {
  readonly job_id: string
  readonly fence: string
  readonly input: Payload
}

export async function busConnection(url: string, queue: string, concurrency: number): Promise<Connection> {
  const connection = await connect({ servers: new URL(url).host })
  const none = async (): Promise<never> => {
    throw new Error('nobody produces here')
  }
  return {
    bulk: none,
    one: none,
    work: async (options) => new BusWorker(connection, queue, concurrency, options).begin(),
    close: () => connection.close(),
  }
}

class BusWorker {
  readonly #connection: NatsConnection
  readonly #queue: string
  readonly #concurrency: number
  readonly #handle: WorkOptions['handle']
  readonly #subjects = subjectsOf(DEFAULT_TENANT)
  readonly #id = `bench-${process.pid}`
  #held = 0
  #isStopped = false
  #telling: NodeJS.Timeout | undefined

  constructor(connection: NatsConnection, queue: string, concurrency: number, { handle }: WorkOptions) {
    this.#connection = connection
    this.#queue = queue
    this.#concurrency = concurrency
    this.#handle = handle
  }

  async begin(): Promise<Working> {
    const { take } = await this.#beat()
    const beating = setInterval(() => void this.#beat().catch(() => {}), BEAT_MS)
    const inbox = createInbox()
    const listening = this.#connection.subscribe(inbox, {
      callback: (error, message) => void (error === null && message.data.length > 0 && this.#take(message)),
    })
    const ask = () =>
      this.#connection.publish(take, JSON.stringify({ batch: this.#concurrency, expires: TAKE_MS * 1e6 }), {
        reply: inbox,
      })
    ask()
    const asking = setInterval(ask, TAKE_MS / 10)
    return {
      settled: async () => this.#held === 0,
      stop: async () => {
        this.#isStopped = true
        for (const each of [beating, asking, this.#telling]) clearInterval(each)
        listening.unsubscribe()
      },
    }
  }

  async #take(message: Msg): Promise<void> {
    this.#held += 1
    try {
      const { job_id, fence, input } = message.json<Dispatch>()
      const own = { job_id, fence, worker_id: this.#id }
      const { ok } = await this.#ask(this.#subjects.start, own)
      message.respond('+ACK')
      if (ok !== true) return
      await this.#handle(input)
      await this.#ask(this.#subjects.result, { ...own, status: 'SUCCEEDED', result_ptr: 'mem://none', execution_ms: 0 })
    } finally {
      this.#held -= 1
      this.#tell()
    }
  }

  #tell(): void {
    if (this.#isStopped) return
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined
      void this.#beat().catch(() => {})
    }, TELL_MS)
  }

  async #beat(): Promise<{ readonly take: string }> {
    const free = this.#concurrency - this.#held
    const told = { worker_id: this.#id, pool: this.#queue, topics: [this.#queue], free }
    return (await this.#ask(this.#subjects.heartbeat, told)) as { readonly take: string }
  }

  async #ask(subject: string, message: object): Promise<Readonly<Record<string, unknown>>> {
    return (await this.#connection.request(subject, JSON.stringify(message), { timeout: ANSWER_MS })).json()
  }
}
