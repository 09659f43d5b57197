/** What is written about failures that come one after the other and are nearly alike: what was made of one must not be told of another. */
import { expect, it } from 'vitest'
import { faultOf } from '../../src/worker/fault.ts'

/** All of one place, so that the stacks of those with one message are one text. */
const failing = (message: string, more: object = {}): Error => Object.assign(new Error(message), more)

const written = (thrown: unknown, attempt = 1) => {
  const { fault, body } = faultOf(thrown, { attempt, now: 0 })
  return { fault, name: body.name, story: JSON.parse(body.text) as Record<string, unknown> }
}

it('is the same for failures that are alike, each under the name of its own attempt', () => {
  const [first, second] = [1, 2].map((attempt) => written(failing('down: password=hunter2222'), attempt))
  expect(second?.story).toEqual(first?.story)
  expect(JSON.stringify(second)).not.toContain('hunter2222')
  expect([first?.name, second?.name]).toEqual(['error/1', 'error/2'])
  expect([first?.fault.body?.name, second?.fault.body?.name]).toEqual(['error/1', 'error/2'])
  expect(second?.fault.body).toMatchObject({ size: first?.fault.body?.size, digest: first?.fault.body?.digest })
  expect(first?.fault.body?.digest).toBeDefined()
})

it.each<readonly [string, (error: Error) => object, object]>([
  ['another message', (error) => Object.assign(error, { message: 'other' }), { message: 'other' }],
  ['another name', (error) => Object.assign(error, { name: 'Other' }), { name: 'Other' }],
  ['another stack', (error) => Object.assign(error, { stack: 'Error: other' }), { stack: 'Error: other' }],
  ['a cause', (error) => Object.assign(error, { cause: 'inner' }), { cause: { message: 'inner' } }],
  ['others in it', (error) => Object.assign(error, { errors: ['inner'] }), { errors: [{ message: 'inner' }] }],
])('is its own for one with %s', (_, made, story) => {
  const [alike, other] = [failing('down'), failing('down')]
  // As an error that a library throws again and again, and changes.
  other.stack = alike.stack ?? ''
  const before = written(alike)
  const after = written(made(other))
  expect(after.story).toMatchObject(story)
  expect(after.story).not.toEqual(before.story)
  expect(written(alike).story).toEqual(before.story)
})

it('keeps what an error says besides', () => {
  const said = (retryAfterMs: number) =>
    written(failing('slow down', { code: `E${retryAfterMs}`, errorClass: 'throttled', retryAfterMs })).fault
  expect(said(1)).toMatchObject({ code: 'E1', class: 'throttled', retryAfterMs: 1 })
  expect(said(2)).toMatchObject({ code: 'E2', class: 'throttled', retryAfterMs: 2 })
})
