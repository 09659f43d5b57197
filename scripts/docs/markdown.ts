/** A Markdown table. Bars inside cells are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

export const code = (text: string): string => `\`${text}\``

export const codes = (texts: readonly string[]): string => texts.map(code).join(' ')

/** Paragraphs with a line between them and a newline at the end. The first line says where the page comes from. */
export function page(title: string, source: string, ...parts: readonly string[]): string {
  const notice = `<!-- Generated from ${source} by \`npm run docs\`. Edit that, not this. -->`
  return `${[notice, `# ${title}`, ...parts].join('\n\n')}\n`
}
