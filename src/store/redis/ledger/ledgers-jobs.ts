/** Jobs that have left the server, as the ledger has them: its image is what the server was at the last folded entry, and keeps what has left. */
import type { Piece } from '../../ledger/image.ts'
import type { EndedJob, Ledger } from '../../ledger/ledger-port.ts'
import { digitsIn, ownKeys } from '../../ledger/own-keys.ts'
import type { EvictedJobs, EvictedRead } from '../connection/backing.ts'
import type { Folding } from './folding.ts'

export interface LedgersJobsParts {
  readonly ledger: Pick<Ledger, 'ended' | 'pieces'>
  readonly folding: Pick<Folding, 'toHead'>
}

export class LedgersJobs implements EvictedJobs {
  readonly #parts: LedgersJobsParts

  constructor(parts: LedgersJobsParts) {
    this.#parts = parts
  }

  /** Folded to the head first: who has just left is not named again. */
  async ended(before: number, most: number): Promise<readonly EndedJob[]> {
    const { ledger, folding } = this.#parts
    await folding.toHead()
    return ledger.ended(before, most)
  }

  /** Folded to the head first: what a caller was told of a job is in what it reads then. */
  async read(digits: readonly string[], entry: number): Promise<EvictedRead> {
    const { ledger, folding } = this.#parts
    await folding.toHead(entry)
    const { account, pieces } = await ledger.pieces(digits.flatMap(ownKeys))
    const jobs = new Map<string, Piece[]>()
    for (const piece of pieces) {
      const whose = digitsIn(piece.key) ?? ''
      const own = jobs.get(whose) ?? []
      own.push(piece)
      jobs.set(whose, own)
    }
    return { entry: account.folded, jobs }
  }
}
