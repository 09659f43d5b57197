import type { JobDefinition } from './definition.ts'

/** Everything a module exports that is a job with a handler, alone or in a list. */
export function exportedJobs(module: object): readonly JobDefinition[] {
  const found = new Map<string, JobDefinition>()
  for (const exported of Object.values(module) as unknown[]) {
    for (const each of Array.isArray(exported) ? (exported as unknown[]) : [exported]) {
      if (isDefinition(each)) found.set(each.type, each)
    }
  }
  return [...found.values()]
}

const isDefinition = (value: unknown): value is JobDefinition =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  'policy' in value &&
  'queue' in value &&
  'run' in value &&
  typeof value.run === 'function'
