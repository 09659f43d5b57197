/** What somebody has typed, as JSON; nothing typed is nothing. */
export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

export function parsedFrom(text: string): Parsed {
  if (text.trim() === '') return { ok: true, value: undefined }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false }
  }
}
