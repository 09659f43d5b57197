/**
 * Characters that a terminal obeys, that turn text around, hide in it, or end a line for some readers and not for others:
 * written out, so that what is shown is what is there. Half a character is one of them.
 */
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]/gu

export const visible = (text: string): string => text.replaceAll(INVISIBLE, escaped)

/** As JSON writes them: inside of JSON, the value stays the same. */
const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** JSON of one line, in which everything can be seen. */
export const visibleJson = (value: unknown): string => visible(JSON.stringify(value) ?? 'null')
