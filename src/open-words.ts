/** Options of `open` that nobody knows are refused: a store that is opened without one of them is another than was meant. */
import { unknownWords, wordsOf } from './core/unknown-words.ts'
import { demandRetention } from './engine/retention-options.ts'
import type { TickerOptions } from './engine/ticker.ts'
import type { OpenOptions } from './open-options.ts'

const OPEN_WORDS = wordsOf<OpenOptions>({
  timeout: true,
  signal: true,
  migrate: true,
  schema: true,
  directUrl: true,
  prefix: true,
  durability: true,
  ledger: true,
  ack: true,
  retryFor: true,
  answerWithin: true,
  policy: true,
  kernel: true,
  token: true,
  connections: true,
  idleConnections: true,
  tenant: true,
  actor: true,
  dashboardUrl: true,
  log: true,
  metrics: true,
  tracing: true,
  codec: true,
  telemetry: true,
  ticker: true,
  retention: true,
  clock: true,
  random: true,
  timers: true,
  onFailed: true,
  onDeadLettered: true,
  onStalled: true,
})
const TICKER_WORDS = wordsOf<TickerOptions>({ everyMs: true, batch: true })

/** And what is said of retention means something: what it removes is gone. */
export function demandSound(options: OpenOptions): void {
  demandKnown(options)
  demandRetention(options.retention)
}

export function demandKnown(options: OpenOptions): void {
  const [first] = [
    ...unknownWords(options, OPEN_WORDS),
    ...(options.ticker ? unknownWords(options.ticker, TICKER_WORDS, 'ticker') : []),
  ]
  if (first !== undefined) throw new TypeError(`open: ${first.field}: ${first.rule}`)
}
