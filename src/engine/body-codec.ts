import type { Body } from '../store/store.ts'

/**
 * What becomes of body texts on their way to the store and back: the one place where they could be encrypted or
 * compressed. Sizes and digests on the record are those of the plain text.
 */
export interface BodyCodec {
  encode(text: string): string
  decode(text: string): string
}

export const plainText: BodyCodec = { encode: (text) => text, decode: (text) => text }

export const encodeBodies = (codec: BodyCodec, bodies: readonly Body[]): readonly Body[] =>
  codec === plainText ? bodies : bodies.map(({ name, text }) => ({ name, text: codec.encode(text) }))

export function decodeBodies(
  codec: BodyCodec,
  bodies: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (codec === plainText) return bodies
  return Object.fromEntries(Object.entries(bodies).map(([name, text]) => [name, codec.decode(text)]))
}
