/**
 * SIGTERM and SIGINT: the first drains every worker of the process that asked to hear of it, and the process ends with
 * code 0 once all have; the second does not wait.
 */
import process from 'node:process'

const CODES = { SIGTERM: 143, SIGINT: 130 } as const

type Drain = () => Promise<void>

const drains = new Set<Drain>()
let asked = false

/** Drains on SIGTERM and SIGINT, until disposed of. */
export function onSignals(drain: Drain): Disposable {
  if (drains.size === 0) {
    process.on('SIGTERM', terminate)
    process.on('SIGINT', interrupt)
  }
  drains.add(drain)
  return {
    [Symbol.dispose]() {
      drains.delete(drain)
      if (drains.size > 0) return
      process.off('SIGTERM', terminate)
      process.off('SIGINT', interrupt)
    },
  }
}

const terminate = (): void => hear('SIGTERM')
const interrupt = (): void => hear('SIGINT')

function hear(signal: keyof typeof CODES): void {
  if (asked) process.exit(CODES[signal])
  asked = true
  void Promise.allSettled([...drains].map((drain) => drain())).then((ends) =>
    process.exit(ends.every(({ status }) => status === 'fulfilled') ? 0 : 1),
  )
}
