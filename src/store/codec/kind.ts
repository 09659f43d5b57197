/** A kind as text, and back: what makes two kinds the same is that their texts are. */
import type { Kind } from '../../core/job.ts'

/** By object: siblings mostly share one, and its text is long. */
const texts = new WeakMap<Kind, string>()

export function kindText(kind: Kind): string {
  const known = texts.get(kind)
  if (known !== undefined) return known
  const { tenant, queue, type, policy } = kind
  const text = JSON.stringify({ tenant, queue, type, policy })
  texts.set(kind, text)
  return text
}

/** Every key is there, as everywhere else. */
export function kindOf(text: string): Kind {
  const { tenant, queue, type, policy } = JSON.parse(text) as Kind
  const { dialect, deadlineMs, startWithinMs, onDuplicate } = policy
  return { tenant, queue, type, policy: { ...policy, dialect, deadlineMs, startWithinMs, onDuplicate } }
}
