import { globSync, readFileSync } from 'node:fs'

export interface Source {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
  /** The text without its comments; what remains stands on its old lines. */
  readonly code: string
  readonly lines: readonly string[]
}

/** Source files under the given folders, in order. */
export function sources(...patterns: readonly string[]): readonly Source[] {
  return filesLike(...patterns).map((path) => {
    const text = readFileSync(path, 'utf8')
    const code = withoutComments(text)
    return { path, text, code, lines: code.split('\n') }
  })
}

/** Paths of our own files, without what was installed among them. */
export function filesLike(...patterns: readonly string[]): readonly string[] {
  const found = patterns.flatMap((pattern) => globSync(pattern, { exclude: (name) => name.includes('node_modules') }))
  return [...new Set(found)].filter((path) => !path.includes('node_modules')).sort()
}

/** `path:line: text` of each line of code that matches. */
export function places(files: readonly Source[], pattern: RegExp): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((line, n) => (pattern.test(line) ? [`${path}:${n + 1}: ${line.trim()}`] : [])),
  )
}

export interface Import {
  readonly specifier: string
  /** `import type`: erased, nothing of it is there when the program runs. (`import { type A }` stays.) */
  readonly typeOnly: boolean
}

const STATEMENT = /\b(import|export)\s+(type\s+)?(?:[\w*{][^;'"()]*?\bfrom\s*)?'([^']+)'/g
const DYNAMIC = /\bimport\(\s*'([^']+)'/g

export function importsOf({ code }: Source): Import[] {
  const statements = [...code.matchAll(STATEMENT)].map(([, , type, specifier = '']) => ({
    specifier,
    typeOnly: type !== undefined,
  }))
  const dynamic = [...code.matchAll(DYNAMIC)].map(([, specifier = '']) => ({ specifier, typeOnly: false }))
  return [...statements, ...dynamic]
}

/** Blanks comments out; knows strings, templates and regular expressions well enough not to look inside them. */
export function withoutComments(text: string): string {
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[=(,:;[!&|?{}>\n]\s*|return\s+)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g
  return text.replace(token, (found) => (/^\/[/*]/.test(found) ? found.replace(/[^\n]/g, ' ') : found))
}
