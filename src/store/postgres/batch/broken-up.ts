/**
 * A batch that failed is broken up once: one bad item never fails its neighbours. Then it shows whose fault it was. What
 * only some of them meet is theirs, and they are rejected. What the database says of data is the item's even where it is
 * alone; what all of them meet otherwise (a function that is missing, a damaged index) is the database's own trouble: it is thrown on, and
 * the caller repeats the whole.
 */
import { codeOf, isItems } from '../connection/trouble.ts'

/** The server's trouble, whatever it was asked: connections, transactions, rights, resources, shutdown. */
const SERVERS = /^(08|25|28|3D|40|53|57|58)/
const SQLSTATE = /^[0-9A-Z]{5}$/

/** Whether the same items one by one may fare better. */
export function mayBreakUp(error: unknown): boolean {
  const code = codeOf(error)
  if (SQLSTATE.test(code)) return !SERVERS.test(code)
  return isUnwritable(error)
}

/** The parameters could not be encoded: an item is too long for a text of V8, or not what it must be. */
const isUnwritable = (error: unknown): boolean =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  (error instanceof Error && error.message.startsWith('pawl: assertion failed'))

export async function brokenUp<Item, Answer>(
  items: readonly Item[],
  alone: (item: Item) => Promise<Answer>,
  rejected: (rule: string) => Answer,
): Promise<readonly Answer[]> {
  const answers: Answer[] = new Array(items.length)
  const failed: { readonly place: number; readonly error: unknown }[] = []
  for (const [place, item] of items.entries()) {
    try {
      answers[place] = await alone(item)
    } catch (error) {
      if (!mayBreakUp(error)) throw error
      failed.push({ place, error })
    }
  }
  const unexplained = failed.find(({ error }) => !isItems(error) && !isUnwritable(error))
  if (unexplained !== undefined && failed.length === items.length) throw unexplained.error
  for (const { place, error } of failed)
    answers[place] = rejected(error instanceof Error ? error.message : String(error))
  return answers
}
