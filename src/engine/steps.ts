/**
 * What is known of steps of the store's clock: those this process has noticed, and those that others have, which are kept
 * in the store for processes that come later. No owner loses a lease before the others were asked, and had the time to notice.
 */
import { NO_STEPS, type Step } from '../core/steps.ts'
import type { Setting, SettingOperation, Store } from '../store/store.ts'
import type { Log } from '../system/log.ts'

export interface StepsParts {
  readonly store: Pick<Store, 'settings'>
  readonly log: Log
}

/** The latest. No attempt lives through more, and the document stays small. */
const KEPT = 100
/** How far apart two processes may see the same step. */
const APART_MS = 2_000
/**
 * Within this time every process that has jobs notices a step and tells the store: its ticker looks at the clock once a second, on duty
 * or not, its workers more often.
 * A process that has watched the clock for less cannot tell a lease that has ended from a clock that was set just before.
 */
export const NOTICED_WITHIN_MS = 2_000
const KEY = { collection: 'clock', key: 'steps' } as const

export class Steps {
  readonly #parts: StepsParts
  #known = NO_STEPS
  /** Present exactly while the store is asked. */
  #asking: Promise<void> | undefined

  constructor(parts: StepsParts) {
    this.#parts = parts
  }

  get known(): readonly Step[] {
    return this.#known
  }

  noticed(step: Step): void {
    this.#parts.log.warn('the store’s clock was set forward; leases go on', { by_ms: step.byMs })
    this.#known = merged(this.#known, [step])
    // If the store is away just now, the step is written with the next `ask`.
    this.ask().catch(() => {})
  }

  /** Both learn what the other knows. */
  ask(): Promise<void> {
    this.#asking ??= this.#agree().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #agree(): Promise<void> {
    let there = await this.#do({ op: 'get', ...KEY })
    for (;;) {
      const kept = there === undefined ? NO_STEPS : stepsIn(there.text)
      const own = this.#known
      this.#known = merged(kept, own)
      if (own.every((step) => kept.some((each) => isSame(each, step)))) return
      const text = JSON.stringify({ steps: this.#known })
      const written = await this.#do({ op: 'put', ...KEY, text, rev: there?.rev ?? 0 })
      if (written?.text === text) return
      there = written
    }
  }

  async #do(operation: SettingOperation): Promise<Setting | undefined> {
    const [answer] = await this.#parts.store.settings([operation])
    return answer?.settings[0]
  }
}

/** Each step once, however many have noticed it, at its latest and longest; in the order of the clock. */
export function merged(some: readonly Step[], others: readonly Step[]): readonly Step[] {
  if (others.length === 0) return some
  const all: Step[] = []
  for (const step of [...some, ...others].sort((a, b) => a.at - b.at)) {
    const same = all.findIndex((each) => isSame(each, step))
    if (same === -1) all.push(step)
    else all[same] = { at: step.at, byMs: Math.max(step.byMs, (all[same] as Step).byMs) }
  }
  return all.slice(-KEPT)
}

/**
 * About as long, and noticed well before the clock had come to where the earlier one ends: a process that has noticed that one dates the
 * next after it. Close to there they are taken for two: an owner that is owed too much waits, one that is owed too little loses its job.
 */
function isSame(a: Step, b: Step): boolean {
  const longest = Math.max(a.byMs, b.byMs)
  return (
    Math.abs(a.at - b.at) <= Math.max(longest * 0.9, APART_MS) &&
    Math.abs(a.byMs - b.byMs) <= APART_MS / 2 + longest / 10
  )
}

/** Steps that another version wrote may not be readable here: then none are known, as if none had been written. */
function stepsIn(text: string): readonly Step[] {
  const { steps } = JSON.parse(text) as { readonly steps?: unknown }
  if (!Array.isArray(steps)) return NO_STEPS
  return steps.filter((step): step is Step => typeof step?.at === 'number' && typeof step?.byMs === 'number')
}
