/**
 * A long answer, told piece by piece as it is taken: a batch may be answered with a thousand records of a hundred kilobytes,
 * and who asked for that neither keeps the event loop from others nor has the gateway hold all of it as text.
 */
import { turn } from '../system/turn.ts'

/** Letters of one piece, which is made in one turn of the event loop. */
const PIECE_LENGTH = 64 * 1024

/** One text where it is short, as nearly all are; else a stream. `ended` is called once, when all of it was taken or the stream was cut off. */
export function pieces(texts: Iterator<string>, ended: () => void = () => {}): string | ReadableStream<Uint8Array> {
  const first = nextPiece(texts)
  if (first.done) {
    ended()
    return first.text
  }
  const encoder = new TextEncoder()
  let piece = first
  return new ReadableStream(
    {
      async pull(to) {
        to.enqueue(encoder.encode(piece.text))
        if (piece.done) {
          to.close()
          return ended()
        }
        await turn()
        piece = nextPiece(texts)
      },
      cancel: ended,
    },
    { highWaterMark: 0 },
  )
}

/** A list as a member of an object: what comes before it, each of its elements when it is asked for, and what comes behind. */
export function* listed<T>(
  head: string,
  items: readonly T[],
  textOf: (item: T) => string,
  tail = () => ']}',
): Generator<string, void> {
  yield head
  for (const [i, item] of items.entries()) yield i === 0 ? textOf(item) : `,${textOf(item)}`
  yield tail()
}

/** A table as the last member of an object. */
export function* tabled(head: string, table: Readonly<Record<string, string>>): Generator<string, void> {
  yield head
  for (const [i, [name, text]] of Object.entries(table).entries())
    yield `${i === 0 ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(text)}`
  yield '}}'
}

function nextPiece(texts: Iterator<string>): { readonly text: string; readonly done: boolean } {
  let text = ''
  while (text.length < PIECE_LENGTH) {
    const next = texts.next()
    if (next.done === true) return { text, done: true }
    text += next.value
  }
  return { text, done: false }
}
