/** From where policies are to who judges by them. */
import type { Engine } from './engine/engine.ts'
import type { Abilities } from './open.ts'
import type { OpenOptions } from './open-options.ts'
import { realClock } from './system/clock.ts'
import type { Log } from './system/log.ts'
import { realTimers } from './system/timers.ts'

/** Files are read before the store is opened: where they are broken, nothing begins. */
export async function judgeIn(
  policy: string,
  options: OpenOptions,
  log: Log,
): Promise<NonNullable<Abilities['judge']>> {
  const { PolicyJudge } = await import('./policy/judge.ts')
  const { PolicyFolder } = await import('./policy/folder.ts')
  const { PolicySettings } = await import('./policy/settings.ts')
  const { SETTINGS } = await import('./policy/kept.ts')
  const folder = policy === SETTINGS ? undefined : new PolicyFolder(policy, log)
  const rules = (engine: Pick<Engine, 'settings'>) => new PolicyJudge(folder, new PolicySettings(engine, log))
  if (options.kernel === undefined) return rules
  const { KernelJudge, kernelUrl } = await import('./policy/kernel.ts')
  const { clock = realClock, timers = realTimers } = options
  const monotonicMs = () => clock.monotonicMs()
  const parts = { url: kernelUrl(options.kernel), fetch: globalThis.fetch, timers, monotonicMs, log }
  return (engine) => new KernelJudge(rules(engine), parts)
}
