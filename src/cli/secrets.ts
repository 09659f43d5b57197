/** Secrets need not stand on the command line: a file, standard input or the environment will do. */
import { readFileSync } from 'node:fs'
import { Usage } from './exit.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** By flag, by file, by environment, by a file the environment names; in this order. */
export interface Sources {
  readonly flag: string | undefined
  readonly file: string | undefined
  /** The variable; the one that names a file has `_FILE` behind it. */
  readonly variable: string
}

/** `name` as it is typed: `--token`. */
export function secretFrom(name: string, { flag, file, variable }: Sources, env: Environment): string | undefined {
  if (flag !== undefined && file !== undefined) throw new Usage(`${name} or ${name}-file, not both.`)
  if (flag !== undefined) return flag
  if (file !== undefined) return contentOf(`${name}-file`, file)
  const named = unlessEmpty(env[`${variable}_FILE`])
  return unlessEmpty(env[variable]) ?? (named === undefined ? undefined : contentOf(`${variable}_FILE`, named))
}

/** An empty variable is one that is not set. */
export const unlessEmpty = (value: string | undefined): string | undefined => (value === '' ? undefined : value)

/** `-` is standard input. What cannot be read is named, what was read is not. */
export function contentOf(name: string, file: string): string {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8').trim()
  } catch (error) {
    const { code } = error as { readonly code?: string }
    throw new Usage(`${name} ${file} cannot be read: ${code === 'ENOENT' ? 'there is no such file' : code}.`)
  }
  if (text === '') throw new Usage(`${name} ${file} is empty.`)
  return text
}
