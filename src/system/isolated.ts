/**
 * Calls what belongs to somebody else: a log, a metric, a tracer, a hook, a listener. Whether it throws, or answers with
 * a promise that is rejected, its caller goes on, because what it was told about has happened already. `failed` hears why.
 */
export function isolated(call: () => unknown, failed: (thrown: unknown) => void): void {
  try {
    watch(call(), failed)
  } catch (thrown) {
    failed(thrown)
  }
}

/** The same for what is called with one word and very often: nothing is made for each call. */
export const isolating =
  <Word>(call: (word: Word) => unknown, failed: (thrown: unknown) => void) =>
  (word: Word): void => {
    try {
      watch(call(word), failed)
    } catch (thrown) {
      failed(thrown)
    }
  }

function watch(answer: unknown, failed: (thrown: unknown) => void): void {
  // Wrapped: reading `then` may throw as well, and a promise turns that into a rejection.
  if (typeof answer === 'object' && answer !== null) new Promise((resolve) => resolve(answer)).catch(failed)
}
