/** What a server tells of itself, by name. */
export function infoOf(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\r\n').filter((line) => line.includes(':'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}
