/** Not the globals, which tests that fake time replace; these they leave alone. */
import { nextTick } from 'node:process'
import { setImmediate } from 'node:timers'

/** Lets the event loop turn once: whatever waits for input, a timer or a signal gets its chance. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Before the event loop turns, once what runs now is done. By a promise: `queueMicrotask` is faked with the timers. */
export const soon = (act: () => void): void => void Promise.resolve().then(act)

/**
 * Before the event loop turns, once nothing else is left to run: all who were answered just now have gone on to where they
 * wait again. From a promise: only there does the tick come after the microtasks, however many they make.
 */
export const lastly = (act: () => void): void => soon(() => nextTick(act))
