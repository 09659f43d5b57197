/** SIGTERM and SIGINT: the first drains, the second does not wait. */
import process from 'node:process'

const CODES = { SIGTERM: 143, SIGINT: 130 } as const

/** Until disposed of. The process ends with code 0 once `drain` has. */
export function onSignals(drain: () => Promise<void>): Disposable {
  let asked = false
  const hear = (signal: keyof typeof CODES) => {
    if (asked) process.exit(CODES[signal])
    asked = true
    drain().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  const term = () => hear('SIGTERM')
  const int = () => hear('SIGINT')
  process.on('SIGTERM', term)
  process.on('SIGINT', int)
  return {
    [Symbol.dispose]() {
      process.off('SIGTERM', term)
      process.off('SIGINT', int)
    },
  }
}
