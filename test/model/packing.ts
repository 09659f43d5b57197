/** How a world is packed into numbers. 0 is nobody, nothing, nowhere. */

export type Packed = number[]

/** Of a belief or a message, lowest bit: which job it is about. */
export const jobOf = (about: number): number => (about - 1) & 1
export const otherJob = (about: number): number => ((about - 1) ^ 1) + 1
export const belief = (job: number, fence: number): number => fence * 2 + job + 1
export const wordMessage = (job: number, word: number): number => word * 4 + job + 1
export const echoMessage = (job: number, echo: number): number => echo * 4 + 2 + job + 1
export const isEcho = (message: number): boolean => ((message - 1) & 2) !== 0
export const contentOf = (message: number): number => (message - 1) >> 2

export function descend(world: Packed, from: number, to: number): void {
  for (let i = from + 1; i < to; i += 1) {
    const value = world[i] as number
    let j = i - 1
    for (; j >= from && (world[j] as number) < value; j -= 1) world[j + 1] = world[j] as number
    world[j + 1] = value
  }
}

export function isBefore(a: Packed, b: Packed): boolean {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return (a[i] as number) < (b[i] as number)
  return false
}
