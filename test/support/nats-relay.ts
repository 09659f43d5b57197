/**
 * A relay in front of a NATS server that understands its text protocol, so that single messages can be lost, doubled or late, either way,
 * while the connection stays whole. What is no message (INFO, CONNECT, SUB, PING) goes through as it is.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type MessageFate = 'pass' | 'drop' | 'twice' | 'late'

export interface NatsRelay extends AsyncDisposable {
  readonly url: string
  /** What became of messages, by what was decided. */
  readonly counts: Readonly<Record<MessageFate, number>>
  /** Decides about each message that comes by from now on. */
  decide(fate: (subject: string) => MessageFate): void
}

const LATE_MS = 700

export async function startNatsRelay(serverUrl: string): Promise<NatsRelay> {
  const target = new URL(serverUrl)
  const counts = { pass: 0, drop: 0, twice: 0, late: 0 }
  const sockets = new Set<Socket>()
  let fate: (subject: string) => MessageFate = () => 'pass'
  const carry = (from: Socket, to: Socket) => {
    const units = new Units()
    const send = (bytes: Buffer) => void (to.destroyed || to.write(bytes))
    from.on('data', (bytes) => {
      for (const { subject, unit } of units.of(bytes)) {
        const decided = subject === undefined ? 'pass' : fate(subject)
        if (subject !== undefined) counts[decided] += 1
        if (decided === 'late') setTimeout(() => send(unit), LATE_MS)
        else if (decided !== 'drop') send(unit)
        if (decided === 'twice') send(unit)
      }
    })
    from.on('close', () => to.destroy())
    from.on('error', () => {})
  }
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    }
    carry(near, far)
    carry(far, near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    decide(next) {
      fate = next
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Five in a hundred are lost, doubled or late, by turns; the same ones whenever the same messages come in the same order. */
export function troubled(seed: number, share = 0.05): () => MessageFate {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const bad = ['drop', 'twice', 'late'] as const
  return () => (next() < share ? (bad[Math.floor(next() * bad.length)] ?? 'drop') : 'pass')
}

const END = Buffer.from('\r\n')

/** Cuts a stream of bytes into lines and messages. */
class Units {
  #rest: Buffer = Buffer.alloc(0)

  of(bytes: Buffer): readonly { readonly subject: string | undefined; readonly unit: Buffer }[] {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const found: { readonly subject: string | undefined; readonly unit: Buffer }[] = []
    for (;;) {
      const end = this.#rest.indexOf(END)
      if (end < 0) return found
      const words = this.#rest.toString('latin1', 0, end).trim().split(/\s+/)
      const isMessage = /^H?(PUB|MSG)$/i.test(words[0] ?? '')
      const size = end + 2 + (isMessage ? Number(words.at(-1)) + 2 : 0)
      if (this.#rest.length < size) return found
      found.push({ subject: isMessage ? words[1] : undefined, unit: this.#rest.subarray(0, size) })
      this.#rest = this.#rest.subarray(size)
    }
  }
}
