/**
 * For so long nothing else happens in this thread: no timer, no answer, no signal. A loop would do the same, and besides
 * take a processor from the very threads and processes that must go on meanwhile.
 */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
