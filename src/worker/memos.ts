/**
 * What earlier runs of a job have done for good: steps, waits that ended, sleeps that elapsed. Each has a key, its
 * name and its ordinal in the run; the texts are bodies `step/<key>`, and are read once, when first asked for.
 */
import { stepBody } from '../core/body.ts'
import { PermanentError } from '../core/thrown.ts'
import type { Assignment, Engine } from '../engine/engine.ts'
import type { Loaded, SignalName } from '../store/store.ts'
import { mustSerialise } from './schema.ts'

export type Memo =
  | { readonly kind: 'step'; readonly value: unknown; readonly undone: boolean }
  | { readonly kind: 'wait'; readonly signal: number | undefined }

export class Memos {
  readonly #engine: Pick<Engine, 'load'>
  readonly #assignment: Assignment
  readonly #ordinals = new Map<string, number>()
  #bodies: Promise<Readonly<Record<string, string>>> | undefined
  #signals: NonNullable<Loaded['signals']> = {}
  /** Waits of earlier runs that this one has not come to yet. */
  #waitsAhead: Set<string> | undefined

  constructor(engine: Pick<Engine, 'load'>, assignment: Assignment) {
    this.#engine = engine
    this.#assignment = assignment
  }

  /** The key of a call: its name and how often it was called before. Synchronous, since calls have an order and answers have none. */
  key(name: string): string {
    const ordinal = (this.#ordinals.get(name) ?? 0) + 1
    this.#ordinals.set(name, ordinal)
    return `${name}#${ordinal}`
  }

  async find(key: string, kind: Memo['kind']): Promise<Memo | undefined> {
    const bodies = await this.#load()
    const text = bodies[stepBody(key)]
    if (text === undefined) return undefined
    const memo = read(text)
    if (memo.kind !== kind) throw nondeterministic(`${key} was a ${memo.kind} in an earlier run and is a ${kind} now`)
    this.#waitsAhead?.delete(key)
    // An undone step is done again if the job is reopened. While the past is being undone its memo still counts.
    return memo.kind === 'step' && memo.undone && this.#assignment.job.phase === 'run' ? undefined : memo
  }

  /** The text behind a signal that a wait was given. Which one that was is the store's word; what it was, its sender's. */
  async payload(signal: number, waited: SignalName): Promise<unknown> {
    const name = `signal/${signal}`
    const text = (await this.#load())[name]
    const sent = this.#signals[name]
    if (sent !== undefined && (sent.name !== waited.name || sent.key !== waited.key)) {
      throw new PermanentError(
        `The wait for ${waited.name} was given ${name}, which was sent as ${sent.name}: the store has been altered.`,
        { code: 'Undecipherable' },
      )
    }
    return text === undefined ? undefined : JSON.parse(text)
  }

  async checkpoint(): Promise<unknown> {
    const text = (await this.#load())['checkpoint']
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** An earlier run let go at a wait: before this one waits anew, or ends, it must have come that far. */
  async mustBePast(key: string): Promise<void> {
    await this.#load()
    for (const ahead of this.#waitsAhead ?? []) {
      throw nondeterministic(`an earlier run waited at ${ahead}, this one has come to ${key} without it`)
    }
  }

  #load(): Promise<Readonly<Record<string, string>>> {
    // A first attempt has no memos: nothing is read.
    if (this.#assignment.job.attempt === 1) this.#bodies ??= Promise.resolve({})
    this.#bodies ??= this.#engine
      .load([{ id: this.#assignment.job.id, bodies: ['step/', 'signal/', 'checkpoint'] }])
      .then(({ items }) => {
        const bodies = items[0]?.bodies ?? {}
        this.#signals = items[0]?.signals ?? {}
        const waits = Object.entries(bodies).filter(([name, text]) => name.startsWith('step/') && isWait(text))
        this.#waitsAhead = new Set(waits.map(([name]) => name.slice('step/'.length)))
        return bodies
      })
    return this.#bodies
  }
}

/** Text of a step's memo. What JSON cannot say (`undefined`) is left out. */
export function stepText(key: string, value: unknown, undone?: true): string {
  const text = mustSerialise(value, 'value', `What step ${key} answered`)
  return `{"step":true${text === undefined ? '' : `,"value":${text}`}${undone === undefined ? '' : ',"undone":true'}}`
}

const isWait = (text: string): boolean => read(text).kind === 'wait'

function read(text: string): Memo {
  const found: unknown = JSON.parse(text)
  if (typeof found === 'object' && found !== null) {
    if ('step' in found)
      return { kind: 'step', value: 'value' in found ? found.value : undefined, undone: 'undone' in found }
    if ('signal' in found && typeof found.signal === 'number') return { kind: 'wait', signal: found.signal }
    if ('timedOut' in found) return { kind: 'wait', signal: undefined }
  }
  throw new PermanentError(`A memo has become unreadable: ${text.slice(0, 100)}`, { code: 'parse_error_strict' })
}

const nondeterministic = (what: string): PermanentError =>
  new PermanentError(`The handler does not do what it did before: ${what}.`, { code: 'E_NONDETERMINISTIC' })
