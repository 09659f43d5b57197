/**
 * How long a process waits that would take the next epoch of a server that does not fit. A joiner that is at it already is fenced by that
 * and begins again: of two, each with a load that takes longer than the other waits, neither would come to an end. So a process that sees a
 * join get on waits for as long as it does, and each epoch that was taken meanwhile makes every process that sees it wait twice as long for
 * the next sign: whatever a step takes, there comes an epoch that is left alone for that long. It is for getting there, and not for safety.
 */
import type { Account } from './account.ts'
import type { Meta } from './meta.ts'

export interface Patience {
  /** The signs that were seen last. */
  readonly signs: string
  readonly epoch: number
  /** Epochs that others, or this one, have taken since it began to wait. */
  readonly overtaken: number
  /** By the watch of who waits: the epoch is taken then, if nothing has moved. */
  readonly untilMs: number
}

/** Where nobody was seen at it: others who noticed the same may be about to begin. */
const PATIENCE_MS = 100
/** Twelve seconds: a step that takes longer is taken for one that nobody takes. */
const OVERTAKEN_MOST = 7

/** `spread`: from 0 to 1, so that those who wait do not wake up together. */
export function patienceWith(
  before: Patience | undefined,
  seen: { readonly account: Account; readonly meta: Meta | undefined; readonly pages: number },
  nowMs: number,
  spread: number,
): Patience {
  const signs = signsOf(seen)
  if (before?.signs === signs) return before
  const { epoch } = seen.account
  const taken = before === undefined ? 0 : before.overtaken + epoch - before.epoch
  const overtaken = Math.min(OVERTAKEN_MOST, taken)
  const patienceMs = PATIENCE_MS * 2 ** overtaken
  return { signs, epoch, overtaken, untilMs: nowMs + (patienceMs * (1 + spread)) / 2 }
}

/**
 * What moves only while somebody joins. Before its joiner has told a server so, calls of the old epoch write there; they are no sign, and
 * neither is what is folded of them.
 */
function signsOf({ account, meta, pages }: Parameters<typeof patienceWith>[1]): string {
  const { epoch, folded } = account
  const isBegun = meta !== undefined && meta.joining === epoch && meta.epoch !== epoch
  return isBegun ? [epoch, folded, meta.head.seq, pages].join(' ') : `${epoch} ${meta?.joining ?? 0}`
}
