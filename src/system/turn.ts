/** Not the global, which tests that fake time replace; this one they leave alone. */
import { setImmediate } from 'node:timers'

/** Lets the event loop turn once: whatever waits for input, a timer or a signal gets its chance. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Before the event loop turns, once what runs now is done. By a promise: `queueMicrotask` is faked with the timers. */
export const soon = (act: () => void): void => void Promise.resolve().then(act)
