import { hostname } from 'node:os'
import { pid } from 'node:process'
import type { Random } from './random.ts'

/** Names a process gives to what it starts. Job ids are not among them: the store hands those out. */
export interface Ids {
  /** This call, and every repetition of it. */
  requestId(): string
  /** This worker, unique among all there ever were, and readable: host, process, a few random digits. */
  workerId(): string
}

export function realIds(random: Random): Ids {
  return {
    requestId: () => random.uuid(),
    workerId: () => `${hostname()}-${pid}-${random.hex64().slice(0, 6)}`,
  }
}
