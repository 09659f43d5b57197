import { type Reply, word } from './reply.ts'

/** What a server tells of itself, by name. */
export function infoOf(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\r\n').filter((line) => line.includes(':'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}

/** Which life of which server this is: a restart changes the one, every promotion the other. */
export async function incarnationOf(send: (words: readonly string[]) => Promise<Reply>): Promise<string> {
  const info = infoOf(word(await send(['INFO'])))
  return `${info['run_id']} ${info['master_replid']}`
}
