/**
 * What somebody has typed, as JSON, and back; nothing typed is nothing. A number with more digits than this language can hold is
 * kept as it was written: an account number must not come out as another one.
 */
export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

/** A number, by its digits. */
export class Digits {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export function parsedFrom(text: string): Parsed {
  if (text.trim() === '') return { ok: true, value: undefined }
  try {
    return { ok: true, value: parsed(text) }
  } catch {
    return { ok: false }
  }
}

/** Throws where it is no JSON. */
export const parsed = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? numberFrom(context.source) : value,
  )

/** What no number loses. */
const DIGITS_MOST = 15

export function numberFrom(text: string): number | Digits {
  const digits = text.replace(/e.*$/i, '').replaceAll(/\D/g, '').replace(/^0+/, '')
  return digits.length <= DIGITS_MOST ? Number(text) : new Digits(text)
}

export function jsonText(value: unknown, indent?: number): string {
  const mark = crypto.randomUUID()
  const text = JSON.stringify(value, (_, each) => (each instanceof Digits ? mark + each.text : each), indent)
  return text.replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1')
}
