/**
 * Data the store may hold on to: a frozen copy, down to the last leaf, so that nobody changes a job through a
 * reference. What has been kept once is shared ever after: a new revision copies what changed and no more.
 */
export function keep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || kept.has(value)) return value
  // A spread defines own properties, so that a label called `__proto__` stays a label.
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
  for (const key in copy) {
    const part = copy[key]
    if (typeof part === 'object' && part !== null) copy[key] = keep(part)
  }
  kept.add(Object.freeze(copy))
  return copy as T
}

const kept = new WeakSet<object>()
