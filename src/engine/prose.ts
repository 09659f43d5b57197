/**
 * Words for people, wherever they stand in a record, an event or an answer: failures, reasons, what a progress report
 * says. One list, so that nothing which is to be sealed, opened or shown is forgotten.
 */
import type { Approval } from '../core/approval.ts'
import type { CancelRequest, DeadLetter, Ending, Failure, Progress, Verdict } from '../core/job.ts'

export interface Reader {
  reason(text: string): string
  progress(text: string): string
  /** Reads message and context of a failure. */
  failure(failure: Failure): Failure
}

type Places = { readonly [place: string]: (value: never, reader: Reader) => unknown }

const withReason = <T extends { readonly reason: string | undefined }>(value: T, reader: Reader): T =>
  value.reason === undefined ? value : { ...value, reason: reader.reason(value.reason) }
const failure = (value: Failure, reader: Reader): Failure => reader.failure(value)

/** Members that have prose, by their names in a record, in an event, in its payload, in an intended ending. */
const PLACES = {
  reason: (value: string, reader: Reader) => reader.reason(value),
  cancel: (value: CancelRequest, reader: Reader) => withReason(value, reader),
  verdict: (value: Verdict, reader: Reader) => withReason(value, reader),
  /** Why it is asked for is the policy's to say; why it was given, a person's. */
  approval: (value: Approval, reader: Reader): Approval => ({
    ...value,
    given: value.given && withReason(value.given, reader),
  }),
  progress: (value: Progress, reader: Reader): Progress =>
    value.message === undefined ? value : { ...value, message: reader.progress(value.message) },
  failure,
  error: failure,
  lastFailure: failure,
  /** In an intended ending a dead letter is its reason alone, which is no prose. */
  deadLetter: (value: DeadLetter | string, reader: Reader) =>
    typeof value === 'string' ? value : { ...value, lastError: reader.failure(value.lastError) },
  intended: (value: Ending, reader: Reader): Ending => withProseBy(value, reader),
} as const satisfies Places

/** A copy whose prose has been replaced by what the reader makes of it. */
export function withProseBy<T extends object>(it: T, reader: Reader): T {
  const read = Object.entries(PLACES as Places).flatMap(([place, readBy]) => {
    const said: unknown = Reflect.get(it, place)
    return said === undefined ? [] : [[place, readBy(said as never, reader)] as const]
  })
  return read.length === 0 ? it : { ...it, ...Object.fromEntries(read) }
}
