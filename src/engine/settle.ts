/**
 * Words of owners, operators and producers: grouped by job, judged round by round until each has its answer. None is
 * refused because others spoke at the same time. Words from this process line up (`turns.ts`); who meets another process
 * is judged again until it goes through, or its patience is over.
 */
import { fraction } from '../core/hash.ts'
import type { Answer, Word } from './engine.ts'
import type { Executor, ExecutorParts } from './execute.ts'
import { Group } from './group.ts'
import { crowded, PATIENCE_MS, Turns } from './turns.ts'

/** After so many conflicts in a row another process is busy with the job: the next try waits for a moment. */
const MET = 2
const LONGEST_PAUSE_MS = 200

export type SettlementParts = Pick<ExecutorParts, 'held' | 'timers' | 'monotonicMs'> & {
  readonly executor: Pick<Executor, 'round'>
}

export class Settlement {
  readonly #parts: SettlementParts
  readonly #turns: Turns

  constructor(parts: SettlementParts) {
    this.#parts = parts
    this.#turns = new Turns({ speak: (words) => this.#speak(words), monotonicMs: parts.monotonicMs })
  }

  async settle(words: readonly Word[]): Promise<readonly Answer[]> {
    const answers: Answer[] = new Array(words.length)
    const elsewhere: Promise<void>[] = []
    await this.#run(this.#begun(words, answers, elsewhere), answers, elsewhere)
    return answers
  }

  /**
   * Those that may speak at once; the others line up. Not in `settle` itself: whatever an async function has had in hand
   * lives for as long as it waits, and this map of a batch outlived every scavenge (a tenth of what a drained job costs).
   */
  #begun(words: readonly Word[], answers: Answer[], elsewhere: Promise<void>[]): readonly Group[] {
    const open: Group[] = []
    for (const group of this.#grouped(words)) {
      if (this.#mayBegin(group)) open.push(group)
      else elsewhere.push(this.#lineUp(group, answers))
    }
    return open
  }

  #grouped(words: readonly Word[]): Iterable<Group> {
    const groups = new Map<string, Group>()
    for (let i = 0; i < words.length; i += 1) {
      const word = words[i] as Word
      const { id, tenant } = word
      const name = tenant === undefined ? id : `${id}\n${tenant}`
      const group = groups.get(name)
      if (group === undefined) groups.set(name, new Group(word, i, this.#parts.held.get(id, tenant)))
      else group.add(word, i)
    }
    return groups.values()
  }

  #mayBegin(group: Group): boolean {
    return group.byOwner && group.turn === 'none' ? !this.#turns.isTaken(group.id) : this.#takeTurn(group)
  }

  #takeTurn(group: Group): boolean {
    if (group.turn !== 'none') return true
    if (!this.#turns.take(group.id)) return false
    group.turn = 'taken'
    return true
  }

  #passTurn(group: Group): void {
    if (group.turn === 'taken') this.#turns.pass(group.id)
    group.turn = 'none'
  }

  async #lineUp(group: Group, answers: Answer[]): Promise<void> {
    const { words, places } = group.rest()
    const heard = await this.#turns.lineUp(group.id, words)
    for (const [i, place] of places.entries()) answers[place] = heard[i] as Answer
  }

  /** Settles the words of callers who lined up: the turn has been taken for them. */
  async #speak(words: readonly Word[]): Promise<readonly Answer[]> {
    const answers: Answer[] = new Array(words.length)
    const groups = [...this.#grouped(words)]
    for (const group of groups) group.turn = 'none needed'
    await this.#run(groups, answers, [])
    return answers
  }

  /** Runs rounds until all groups are answered. Words that lined up elsewhere are waited for, whatever happens here. */
  async #run(groups: readonly Group[], answers: Answer[], elsewhere: Promise<void>[]): Promise<void> {
    let open = groups
    try {
      while (open.length > 0) {
        await this.#parts.executor.round(open, answers)
        open = open.filter((group) => this.#goesOn(group, answers, elsewhere))
      }
    } catch (error) {
      for (const group of open) this.#gaveUp(group)
      await Promise.allSettled(elsewhere)
      throw error
    }
    if (elsewhere.length === 0) return
    for (const outcome of await Promise.allSettled(elsewhere)) {
      if (outcome.status === 'rejected') throw outcome.reason
    }
  }

  /** False: it is done, or goes on by itself, so that those it came with need not wait for its sake. */
  #goesOn(group: Group, answers: Answer[], elsewhere: Promise<void>[]): boolean {
    if (group.done) {
      this.#passTurn(group)
      return false
    }
    if (group.conflicts === 0) return true
    if (!this.#takeTurn(group)) elsewhere.push(this.#lineUp(group, answers))
    else if (group.conflicts < MET) return true
    else elsewhere.push(this.#persist(group, answers))
    return false
  }

  async #persist(group: Group, answers: Answer[]): Promise<void> {
    const { timers, monotonicMs, executor } = this.#parts
    const untilMs = monotonicMs() + PATIENCE_MS
    try {
      while (!group.done) {
        await timers.sleep(pauseMs(group))
        if (monotonicMs() < untilMs) await executor.round([group], answers)
        else group.refuseAll(crowded, answers)
      }
      this.#passTurn(group)
    } catch (error) {
      this.#gaveUp(group)
      throw error
    }
  }

  /** Whether the store has it is unknown: the next word about this job reads the record first. */
  #gaveUp(group: Group): void {
    this.#parts.held.drop(group.id)
    this.#passTurn(group)
  }
}

/** Longer with each conflict, and different for any two groups that met: else they meet again. */
function pauseMs({ conflicts, name }: Group): number {
  const longest = Math.min(2 ** conflicts, LONGEST_PAUSE_MS)
  return longest * (0.25 + 0.75 * fraction(`${name}/${conflicts}`))
}
