/**
 * The program that a page of `docs/` shows. A block of TypeScript that begins with the name of a file (`// main.ts`)
 * belongs to that file, below what the page has shown of it before; all others are one file, read from top to bottom.
 */
import { readFileSync } from 'node:fs'

const BLOCK = /^```ts\n([\s\S]*?)^```$/gm
const UNNAMED = 'page.ts'

export function filesOf(page: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const [, code = ''] of readFileSync(page, 'utf8').matchAll(BLOCK)) {
    const name = /^\/\/ ([a-z-]+\.ts)\b/.exec(code)?.[1] ?? UNNAMED
    files.set(name, `${files.get(name) ?? ''}${code}\n`)
  }
  return files
}
