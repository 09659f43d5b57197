import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { announcementOf } from '../../src/library/announcement.ts'
import { defineJob } from '../../src/library/define-job.ts'

const schemaOf = (input: z.ZodType | undefined) =>
  announcementOf(defineJob({ type: 't', input, run: () => undefined }), 'acme').inputSchema

describe('what is announced of a type', () => {
  it('is what may be handed in, where its schema can tell', () => {
    const schema = schemaOf(z.object({ to: z.string().min(1).describe('whom'), seats: z.int().max(9).default(1) }))
    expect(schema).toMatchObject({
      type: 'object',
      properties: { to: { type: 'string', minLength: 1, description: 'whom' }, seats: { default: 1, maximum: 9 } },
      // What has a default may be left out by whoever hands it in.
      required: ['to'],
    })
  })

  it('is nothing of it where there is no schema, none that can be told, or one that is very long', () => {
    expect(schemaOf(undefined)).toBeUndefined()
    expect(schemaOf(z.custom(() => true).transform(() => new Map()))).toBeUndefined()
    expect(
      schemaOf(z.enum(Array.from({ length: 3_000 }, (_, n) => `value ${n}`) as [string, ...string[]])),
    ).toBeUndefined()
  })

  it('is of the tenant that the type names, or else of whoever works', () => {
    const job = defineJob({ type: 't', tenant: 'own', run: () => undefined })
    expect(announcementOf(job, 'acme').tenant).toBe('own')
    expect(announcementOf({ ...job, tenant: undefined }, 'acme').tenant).toBe('acme')
  })
})
