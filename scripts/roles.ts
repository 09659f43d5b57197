import type { Result } from './tally.ts'

/** The roles of document 002 in the results of its tests: each by the lines that say what it does, over HTTP and over the bus. */
/** Which lines of the diagram are whose. */
const ROLES: Readonly<Record<string, readonly number[]>> = {
  gateway: [37, 55],
  scheduler: [38, 39, 56],
  'safety kernel': [45],
  worker: [40, 41, 42, 57],
  reconciler: [43, 44],
}

/** How the outermost groups begin in which each role is a real one. */
const WAYS: Readonly<Record<string, RegExp>> = { HTTP: /^002 by its roles/, 'the bus': /^002 over (the|a) bus/ }

/** `missing`: why there is no bus here. */
export function rolesIn(results: readonly Result[], missing: string | undefined) {
  const lines: string[] = []
  let whole = true
  for (const [way, group] of Object.entries(WAYS)) {
    if (way === 'the bus' && missing !== undefined) {
      lines.push(`roles over ${way}: not counted. ${missing}`)
      continue
    }
    const mine = results.filter(({ ancestorTitles }) => group.test(ancestorTitles[0] ?? ''))
    const counts = Object.entries(ROLES).map(([role, rules]) => {
      const own = mine.filter(
        ({ title, status }) => cites(title, rules) && (status === 'passed' || status === 'failed'),
      )
      const passed = own.filter(({ status }) => status === 'passed').length
      if (own.length === 0 || passed < own.length) whole = false
      return `${role} ${passed}/${own.length}`
    })
    lines.push(`roles over ${way}: ${counts.join(', ')}`)
  }
  return { lines, whole }
}

const cites = (title: string, rules: readonly number[]): boolean =>
  rules.some((rule) => new RegExp(`\\b002:${rule}\\b`).test(title))
