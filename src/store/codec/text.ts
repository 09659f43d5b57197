/**
 * Text as databases can hold it. UTF-8 knows no lone surrogate and Postgres no U+0000; a text with either is kept as
 * `\u0001` and its JSON (which escapes both), and so is a text that begins with `\u0001` itself. The mapping is
 * injective, so what is unique before is unique after; every ordinary text is its own image.
 *
 * What is already JSON made by `JSON.stringify` (records, events) needs none of this.
 */
export function storable(text: string): string {
  if (text.isWellFormed() && !text.includes('\u0000') && text.charCodeAt(0) !== 1) return text
  return `\u0001${JSON.stringify(text)}`
}

export function original(stored: string): string {
  return stored.charCodeAt(0) === 1 ? String(JSON.parse(stored.slice(1))) : stored
}
