/**
 * Says the words about one job, in order, under the fence of its lease. A job bound to document 001 wants to hear with
 * each word which revision it is about; there the next word waits for the answer to the one before, and is said again where
 * a heartbeat came in between: under its fence nobody else can have moved the job.
 */
import { type Bond, bondOf } from '../core/dialects/bond.ts'
import { impliedRequestId } from '../core/receipt.ts'
import type { CommandType } from '../core/verb.ts'
import type { Answer, Assignment, Word } from '../engine/engine.ts'
import type { Body } from '../store/store.ts'
import type { Outbox, Sender } from './outbox.ts'

export type Said = Word['command']

export class Voice {
  readonly #outbox: Outbox
  readonly #actor: string
  readonly #assignment: Assignment
  /** Hears every answer. */
  readonly #owner: Sender
  readonly #bond: Bond
  /** The last revision heard of. */
  #rev: number
  #count = 0
  #started = false
  #heard: Promise<unknown> | undefined

  constructor(outbox: Outbox, actor: string, assignment: Assignment, owner: Sender) {
    this.#outbox = outbox
    this.#actor = actor
    this.#assignment = assignment
    this.#owner = owner
    this.#rev = assignment.job.rev
    this.#bond = bondOf(assignment.job.spec.kind.policy)
  }

  /** Says the start and resolves when it is written, where nothing may run before that; elsewhere undefined. */
  begin(): Promise<void> | undefined {
    if (!this.#bond.startsAloud) return undefined
    this.start()
    return this.heard()
  }

  /** A word about this run has been said, its start at least. */
  get started(): boolean {
    return this.#started
  }

  /** The stamp of a word that is said once under a lease: its request id is implied by the fence, and needs no storage. */
  once(type: CommandType): { readonly actor: string; readonly requestId: string; readonly fence: string } {
    const { fence } = this.#assignment
    return { actor: this.#actor, requestId: impliedRequestId(fence, type), fence }
  }

  start(): void {
    if (this.#started) return
    this.#started = true
    void this.#post({ ...this.once('start'), type: 'start' }, [])
  }

  /** Says a word that may be said several times under a lease, with other fields. */
  say(type: Said['type'], fields: object, bodies: readonly Body[]): Promise<Answer> {
    this.start()
    this.#count += 1
    const { fence } = this.#assignment
    const requestId = `${fence}/${type}/${this.#count}`
    return this.#post({ ...fields, actor: this.#actor, fence, type, requestId } as Said, bodies)
  }

  /** The word that ends the lease. */
  last(word: Word): void {
    const { type } = word.command
    if (this.#bond.endsOnlyWhileRunning && (type === 'complete' || type === 'fail')) this.start()
    if (!this.#bond.exactRevision) this.#outbox.post(word, this.#owner, !this.#started)
    else void this.heard().then(() => this.#send(word))
  }

  /** Resolves when everything said so far has been answered. */
  async heard(): Promise<void> {
    await this.#heard
  }

  /** Says a word elsewhere than in the outbox; with the revision it is about where that is wanted, as often as it takes. */
  async insist(word: Word, say: (word: Word) => Promise<Answer | undefined>): Promise<Answer | undefined> {
    for (;;) {
      const answer = await say(this.#aboutRev(word))
      if (answer === undefined || !this.#isOutrun(answer)) return answer
    }
  }

  #aboutRev(word: Word): Word {
    if (!this.#bond.exactRevision) return word
    return { ...word, command: { ...word.command, expectedRev: this.#rev } }
  }

  /** Takes note of the revision; true where the word was about an older one and is to be said again. */
  #isOutrun(answer: Answer): boolean {
    if (answer.ok) {
      this.#rev = answer.rev
      return false
    }
    const { code, rev } = answer.refusal
    if (!this.#bond.exactRevision || code !== 'REV_CONFLICT' || rev === undefined) return false
    this.#rev = rev
    return true
  }

  #post(command: Said, bodies: readonly Body[]): Promise<Answer> {
    const send = () => this.#send({ id: this.#assignment.job.id, command, bodies })
    const answer = this.#bond.exactRevision && this.#heard !== undefined ? this.#heard.then(send) : send()
    this.#heard = answer
    return answer
  }

  #send(word: Word): Promise<Answer> {
    return new Promise((resolve) => {
      const answered = (said: Word, answer: Answer) => {
        if (this.#isOutrun(answer)) return this.#outbox.post(this.#aboutRev(word), { answered }, false)
        this.#owner.answered(said, answer)
        resolve(answer)
      }
      this.#outbox.post(this.#aboutRev(word), { answered }, false)
    })
  }
}
