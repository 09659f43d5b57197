import type { Statements } from '../../../../src/store/postgres/connection/statements.ts'

/** The texts that call our functions, by name; those in a transaction of the caller's have `InCallers` behind it. */
export function statementNames({ inCallers, ...own }: Statements): {
  readonly statements: Readonly<Record<string, string>>
  readonly nameOf: (text: string) => string
} {
  const texts = Object.entries(own).filter(([, text]) => text.includes('"pawl".'))
  const callers = texts.flatMap(([name, text]) => {
    const other = inCallers.get(text)
    return other === undefined ? [] : [[`${name}InCallers`, other] as const]
  })
  const all = [...texts, ...callers]
  const names = new Map(all.map(([name, text]) => [text, name]))
  return { statements: Object.fromEntries(all), nameOf: (text) => names.get(text) ?? text }
}
