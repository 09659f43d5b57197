/** Colours for people; plain text for pipes and for whoever sets `NO_COLOR`. */
export interface Palette {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  cyan(text: string): string
}

export function palette(colours: boolean): Palette {
  const style = (open: number, close: number) => (text: string) =>
    colours ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return { bold: style(1, 22), dim: style(2, 22), red: style(31, 39), green: style(32, 39), cyan: style(36, 39) }
}
