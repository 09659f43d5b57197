/**
 * Whether this Node can do what pawl needs of it. Asked before anything is loaded that an older one cannot even read, so
 * that whoever has one is told in words; hence this file uses nothing that is new.
 */

/** Undefined: it suffices. `fromSources`: they have `await using`, which no Node before 24 knows. */
export function nodeTooOld(version: string = process.versions.node, fromSources = false): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const suffices = major >= 24 || (!fromSources && major === 22 && minor >= 18)
  return suffices ? undefined : `Node ${fromSources ? '24' : '22.18+ or 24'}+ is needed; this is Node ${version}.`
}

/** For the library, whose first call this is: what an older Node lacks would show later, and elsewhere, as a `TypeError`. */
export function demandNode(): void {
  const tooOld = nodeTooOld()
  if (tooOld !== undefined) throw new Error(`pawl: ${tooOld} Install it from https://nodejs.org.`)
}
