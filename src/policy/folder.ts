/**
 * The policy in a folder: every `.yaml`, `.yml` and `.json` in it, but for tables of cases (`cases.ts`) and what begins with a dot. It
 * is looked at again and again, and what has changed holds once it has stayed the same from one look to the next.
 *
 * Modes: *in force* (there is a snapshot), *settling* (something has changed, and may still be on its way) and *broken* (what is
 * there is no policy; the log says where). In the last two nothing is judged, and jobs wait: half of a policy would deny for
 * good what the other half allows, and the one before might let in what a rule was just written against.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { reasonOf } from '../core/reason.ts'
import type { Log } from '../system/log.ts'
import { isCases } from './cases.ts'
import { type Compiled, compile } from './policy.ts'
import type { Snapshot } from './snapshot.ts'
import { type Fault, faultText, type SourceFile } from './source.ts'

/** Why a folder is no policy: every place where something is wrong. */
export class BrokenPolicy extends Error {
  override readonly name = 'BrokenPolicy'
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[]) {
    super(`The policy is broken: ${faults.map(faultText).join('; ')}`)
    this.faults = faults
  }
}

export class PolicyFolder {
  readonly #folder: string
  readonly #log: Log
  /** Names, sizes and times as of the last look. */
  #seen: string
  /** Undefined while settling. */
  #state: Compiled | undefined

  /** Throws `BrokenPolicy` where there is none to begin with, and what the file system says where there is no such folder. */
  constructor(folder: string, log: Log) {
    this.#folder = folder
    this.#log = log
    this.#seen = traces(folder)
    this.#state = { snapshot: policyIn(folder) }
  }

  /** Undefined: nothing may be judged now. */
  get snapshot(): Snapshot | undefined {
    return this.#state !== undefined && 'snapshot' in this.#state ? this.#state.snapshot : undefined
  }

  /** One look. */
  look(): void {
    const now = traces(this.#folder)
    if (now !== this.#seen) {
      this.#seen = now
      this.#state = undefined
      return
    }
    if (this.#state === undefined) this.#take()
  }

  #take(): void {
    try {
      const snapshot = policyIn(this.#folder)
      // What was written while it was read may be half of either: it is another change.
      if (traces(this.#folder) !== this.#seen) return
      this.#state = { snapshot }
      this.#log.info('a policy is in force', { policy: snapshot.hash, rules: snapshot.rules.length })
    } catch (error) {
      const faults = error instanceof BrokenPolicy ? error.faults : [about(this.#folder, reasonOf(error))]
      this.#state = { faults }
      for (const fault of faults) this.#log.error('the policy is broken: jobs wait', { place: faultText(fault) })
    }
  }
}

const about = (file: string, rule: string): Fault => ({ file, line: 1, column: 1, field: undefined, rule })

/** Throws `BrokenPolicy`. A folder without rules is broken: it would deny everything, and is mostly a mistake, or half of a deploy. */
export function policyIn(folder: string): Snapshot {
  const compiled = compile(filesIn(folder, (name) => !isCases(name)))
  if ('faults' in compiled) throw new BrokenPolicy(compiled.faults)
  if (compiled.snapshot.rules.length > 0) return compiled.snapshot
  throw new BrokenPolicy([about(folder, 'has no rules')])
}

export const filesIn = (folder: string, wanted: (name: string) => boolean): readonly SourceFile[] =>
  namesIn(folder)
    .filter(wanted)
    .map((name) => ({ name: join(folder, name), text: readFileSync(join(folder, name), 'utf8') }))

const namesIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('.') && /\.(ya?ml|json)$/.test(name))
    .sort()

/** What is there, without reading it. A file that goes while it is looked at is another change. */
function traces(folder: string): string {
  try {
    return JSON.stringify(
      namesIn(folder).map((name) => {
        const { mtimeMs, ctimeMs, size, ino } = statSync(join(folder, name))
        return [name, mtimeMs, ctimeMs, size, ino]
      }),
    )
  } catch (error) {
    return String(error)
  }
}
