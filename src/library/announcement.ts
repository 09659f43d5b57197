import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Announcement } from '../engine/job-types.ts'
import type { JobSpec } from './define-job.ts'

/** What is told of a type to whoever knows only its name: where its jobs wait, how they are judged, what may be handed in. */
export function announcementOf(
  {
    tenant,
    queue,
    type,
    policy,
    input,
  }: Pick<JobSpec, 'tenant' | 'queue' | 'type' | 'policy'> & { readonly input?: unknown },
  ownTenant: string,
): Announcement {
  return { tenant: tenant ?? ownTenant, queue, type, policy, inputSchema: inputSchemaOf(input) }
}

/** Longer ones are not told: a form of so many fields would help nobody. */
const LETTERS_MOST = 16_384

/** As JSON Schema, where the schema can say so itself (Standard JSON Schema, as zod and others do). */
function inputSchemaOf(schema: unknown): Announcement['inputSchema'] {
  if (!tellsJsonSchema(schema)) return undefined
  try {
    const told = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
    return JSON.stringify(told).length > LETTERS_MOST ? undefined : told
  } catch {
    // Not everything that can be checked can be told: then there is no form, and raw JSON is asked for.
    return undefined
  }
}

const tellsJsonSchema = (schema: unknown): schema is StandardSchemaV1 & StandardJSONSchemaV1 =>
  typeof schema === 'object' &&
  schema !== null &&
  '~standard' in schema &&
  'jsonSchema' in (schema['~standard'] as object)
