import { describe, expect, it } from 'vitest'
import { digest } from '../../src/core/hash.ts'
import { jobHashOf } from '../../src/core/job-hash.ts'
import { given } from './given.ts'

const record = (words: Readonly<Record<string, unknown>> = {}) => given({ admission: true }, words).record

/** The definition in a few lines, however slow: records have hashes that were made by it. */
const defined = ({ id, generation, priority, spec }: ReturnType<typeof record>) =>
  digest(
    JSON.stringify([id, generation, priority, spec], (_, value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  )

describe('the hash of a job', () => {
  it('is of all that was asked for, as JSON in the order of names', () => {
    for (const words of [
      {},
      {
        labels: { b: '2', a: '"', kind: 'x' },
        env: { z: '', a: 'ü' },
        topic: 'job.a',
        input: { name: 'input', size: 1 },
      },
      { flow: { keys: ['k', 'l'], fair: undefined }, stepIndex: 0, contextPtr: 's3://a?b' },
    ])
      expect(jobHashOf(record(words))).toBe(defined(record(words)))
  })

  it('is another for another word, whatever its kind is', () => {
    const all = [record(), record({ labels: { a: 'b' } }), record({ labels: { a: 'c' } }), record({ priority: 6 })]
    const others = given({ admission: true, retry: { attempts: 2 } }).record
    expect(new Set([...all, others].map(jobHashOf)).size).toBe(5)
    // A record from before it was written down by which revision an input came.
    const brought = { input: { name: 'replaced', size: 1, digest: 'd' }, next: undefined }
    const older = { ...record(), newer: brought }
    expect(jobHashOf(older)).not.toBe(jobHashOf(record()))
    expect(jobHashOf({ ...older, newer: { ...brought, rev: 2 } })).not.toBe(jobHashOf(older))
    const { spec, ...rest } = record({ labels: { b: '1', a: '2' } })
    const turned = { ...rest, spec: Object.fromEntries(Object.entries(spec).reverse()) } as typeof others
    expect(jobHashOf(turned)).toBe(jobHashOf(record({ labels: { a: '2', b: '1' } })))
  })
})
