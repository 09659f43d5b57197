/** Programmer errors stop the program; domain refusals are returned. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) violated(message)
}

/** For hot paths: a message that has to be put together is put together only where it is needed. */
export function violated(message: string): never {
  throw new Error(`pawl: assertion failed: ${message}`)
}

/** Closes every `switch` over a closed union: a new member fails to compile here. */
export function unreachable(value: never): never {
  throw new Error(`pawl: unreachable: ${String(value)}`)
}
