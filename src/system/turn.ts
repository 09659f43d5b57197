/** Lets the event loop turn once: whatever waits for input, a timer or a signal gets its chance. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
