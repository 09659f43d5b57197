/**
 * The promise that an answer is, or stands for; undefined where it is an answer already. What comes from a handler or a
 * schema may do anything when it is looked at (a getter that throws, a proxy that was revoked): that rejects the promise.
 */
export function promised<T>(answer: T | PromiseLike<T>): Promise<T> | undefined {
  if ((typeof answer !== 'object' && typeof answer !== 'function') || answer === null) return undefined
  try {
    if (answer instanceof Promise) return answer
    const isThenable = 'then' in answer && typeof answer.then === 'function'
    return isThenable ? new Promise((resolve) => resolve(answer)) : undefined
  } catch (error) {
    return Promise.reject(error)
  }
}
