/**
 * Policies in the store: what a tenant has set for its own jobs, under names. A text is taken only if it is a policy, and, where whoever sets it says
 * what it replaces, only if that is still there. Each change turns a notch, by which schedulers see that there is something to read.
 */
import type { Time } from '../core/job.ts'
import { isPlainText, isSegment, PLAIN_RULE, SEGMENT_RULE } from '../core/name.ts'
import type { Violation } from '../core/refusal.ts'
import { countOf, pageOf, prefixOf } from '../engine/documents.ts'
import type { Engine } from '../engine/engine.ts'
import type { Setting, SettingOperation } from '../store/store.ts'
import { type Compiled, compile } from './policy.ts'
import { type Fault, faultText } from './source.ts'

export const KEPT_BOUNDS = {
  /** Letters of a text. */
  letters: 50_000,
  /** Letters of its name. */
  name: 60,
} as const

/** In place of a folder: judge by what tenants have set, and by nothing else. */
export const SETTINGS = 'settings:'

export interface KeptPolicy {
  readonly name: string
  /** As it was set: YAML or JSON. */
  readonly text: string
  /** How often it was set: what `rev` of the next change names, so that nobody undoes what they have not seen. */
  readonly rev: number
  readonly by: string
  readonly setAt: Time
  /** Where it is broken, as nothing is that was set by this edition. While one is, jobs of its tenant wait. */
  readonly faults: readonly string[]
}

export type SetAnswer =
  | { readonly status: 'ok'; readonly policy: KeptPolicy }
  | { readonly status: 'refused'; readonly violations: readonly Violation[] }
  /** `rev`: of what is there; 0 where nothing is. */
  | { readonly status: 'conflict'; readonly rev: number }

export type RemoveAnswer =
  /** `policy`: what was there. */
  | { readonly status: 'ok'; readonly policy: KeptPolicy }
  | { readonly status: 'missing' }
  | { readonly status: 'conflict'; readonly rev: number }

export interface SetPolicy {
  readonly tenant: string
  readonly name: string
  readonly text: string
  readonly by: string
  /** What it replaces, 0 for nothing; unless given, whatever is there. */
  readonly rev: number | undefined
}

type Telling = (there: KeptPolicy | undefined) => Promise<void>

/** Its revision is another after every change of any tenant's policies. */
export const NOTCH: SettingOperation = { op: 'get', collection: 'policy', key: 'notch' }
const TURN: SettingOperation = { op: 'put', collection: 'policy', key: 'notch', text: '{}', rev: undefined }

/** Texts are long: a page of the store has not many of them. */
const PAGE = 20

export class KeptPolicies {
  readonly #engine: Pick<Engine, 'settings'>
  readonly #isRemote: boolean

  /** `isRemote`: it is for a gateway to say what is a policy, and whose. */
  constructor(engine: Pick<Engine, 'settings'>, isRemote = false) {
    this.#engine = engine
    this.#isRemote = isRemote
  }

  /** All of a tenant, by their names. */
  async list(tenant: string): Promise<readonly KeptPolicy[]> {
    const found: KeptPolicy[] = []
    for (let after = prefixOf(tenant); ; ) {
      const { settings, isLast } = await pageOf(this.#engine, 'policy', tenant, after, PAGE)
      for (const setting of settings) found.push(this.#keptIn(tenant, setting))
      if (isLast) return found
      after = settings.at(-1)?.key ?? after
    }
  }

  count(tenant: string, most: number): Promise<number> {
    return countOf(this.#engine, 'policy', tenant, most)
  }

  async find(tenant: string, name: string): Promise<KeptPolicy | undefined> {
    const [read] = await this.#engine.settings([{ op: 'get', collection: 'policy', key: keyOf(tenant, name) }])
    const there = read?.settings[0]
    return there && this.#keptIn(tenant, there)
  }

  /** `telling` is asked when nothing speaks against it any more, with what is there, and before anything is written. */
  async set({ tenant, name, text, by, rev }: SetPolicy, telling: Telling): Promise<SetAnswer> {
    const violations = this.#isRemote ? [] : violationsOf(tenant, name, text)
    if (violations.length > 0) return { status: 'refused', violations }
    const before = await this.find(tenant, name)
    // It is this very call, whose answer was lost, or somebody who means the same.
    if (before?.text === text) return { status: 'ok', policy: before }
    if (rev !== undefined && rev !== (before?.rev ?? 0)) return { status: 'conflict', rev: before?.rev ?? 0 }
    await telling(before)
    const key = keyOf(tenant, name)
    const put = { op: 'put', collection: 'policy', key, text: JSON.stringify({ text, by }), rev } as const
    const [answer] = await this.#engine.settings([put, TURN])
    const there = answer?.settings[0]
    if (answer?.status !== 'ok' || there === undefined) return { status: 'conflict', rev: there?.rev ?? 0 }
    return { status: 'ok', policy: this.#keptIn(tenant, there) }
  }

  async remove(
    { tenant, name, rev }: Pick<SetPolicy, 'tenant' | 'name' | 'rev'>,
    telling: Telling,
  ): Promise<RemoveAnswer> {
    const policy = await this.find(tenant, name)
    if (policy === undefined) return { status: 'missing' }
    if (rev !== undefined && rev !== policy.rev) return { status: 'conflict', rev: policy.rev }
    await telling(policy)
    const remove = { op: 'remove', collection: 'policy', key: keyOf(tenant, name), rev: policy.rev } as const
    const [answer] = await this.#engine.settings([remove, TURN])
    const there = answer?.settings[0]
    if (answer?.status === 'ok') return { status: 'ok', policy }
    return there === undefined ? { status: 'missing' } : { status: 'conflict', rev: there.rev }
  }

  #keptIn(tenant: string, setting: Setting): KeptPolicy {
    const { name, text, by, faults } = documentIn(setting)
    const found = { name, text: text ?? setting.text, rev: setting.rev, by, setAt: setting.updatedAt }
    if (this.#isRemote) return { ...found, faults }
    return { ...found, faults: text === undefined ? [UNREADABLE] : faultsIn(tenant, name, text).map(faultText) }
  }
}

const keyOf = (tenant: string, name: string): string => JSON.stringify([tenant, name])

/** Everything that keeps a text from being a policy of this tenant's under this name. */
function violationsOf(tenant: string, name: string, text: string): readonly Violation[] {
  const found: Violation[] = []
  if (name === '' || name.length > KEPT_BOUNDS.name)
    found.push({ field: 'name', rule: `must be text of 1 to ${KEPT_BOUNDS.name} letters` })
  else if (!isSegment(name)) found.push({ field: 'name', rule: isPlainText(name) ? SEGMENT_RULE : PLAIN_RULE })
  if (text.length > KEPT_BOUNDS.letters)
    found.push({ field: 'text', rule: `must have at most ${KEPT_BOUNDS.letters} letters` })
  if (found.length > 0) return found
  return faultsIn(tenant, name, text).map((fault) => ({ field: 'text', rule: faultText(fault) }))
}

function faultsIn(tenant: string, name: string, text: string): readonly Fault[] {
  const compiled = compile([{ name, text }], tenant)
  if ('faults' in compiled) return compiled.faults
  return compiled.snapshot.rules.length > 0
    ? []
    : [{ file: name, line: 1, column: 1, field: undefined, rule: 'has no rules' }]
}

interface Document {
  readonly name: string
  readonly by: string
  /** Undefined where somebody else has written it. */
  readonly text: string | undefined
  /** As a gateway tells them. */
  readonly faults: readonly string[]
}

function documentIn({ key, text }: Pick<Setting, 'key' | 'text'>): Document {
  const name = nameIn(key)
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read === 'object' && read !== null && 'text' in read && typeof read.text === 'string')
      return {
        name,
        text: read.text,
        by: 'by' in read ? String(read.by) : '',
        faults: 'faults' in read ? (read.faults as readonly string[]) : [],
      }
  } catch {
    // No JSON, and so no policy.
  }
  return { name, text: undefined, by: '', faults: [] }
}

const nameIn = (key: string): string => String((JSON.parse(key) as readonly unknown[])[1])

/** What all documents of a tenant come to together; faults where one of them is none. */
export function snapshotOf(tenant: string, settings: readonly Pick<Setting, 'key' | 'text'>[]): Compiled {
  const files = settings.map((setting) => documentIn(setting))
  const faults = files.filter(({ text }) => text === undefined).map(({ name }) => unreadable(name))
  if (faults.length > 0) return { faults }
  return snapshotOfTexts(
    tenant,
    files.map(({ name, text = '' }) => ({ name, text })),
  )
}

export const snapshotOfTexts = (tenant: string, files: readonly Pick<KeptPolicy, 'name' | 'text'>[]): Compiled =>
  compile(files, tenant)

const unreadable = (file: string): Fault => ({ file, line: 1, column: 1, field: undefined, rule: UNREADABLE })

const UNREADABLE = 'its document cannot be read'
