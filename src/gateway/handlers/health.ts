/** Is anybody there, and does the store answer? */
import { type Handler, json, type Parts } from '../call.ts'

export const livez: Handler = async () => json(200, { status: 'alive' })

/** A store that answers more slowly than this is not ready. */
const ANSWER_WITHIN_MS = 2_000
const SKEW_MOST_MS = 5_000

export const readyz: Handler = async (_, parts) => {
  const { ready, checks } = await readiness(parts)
  return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks })
}

export interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, string>>
}

/** Whether the store answers, by which clock, what its server promises, and whether somebody looks at what has come due. */
export async function readiness({
  engine,
  clock,
  timers,
  promise,
  upkeep,
}: Pick<Parts, 'engine' | 'clock' | 'timers'> & Partial<Pick<Parts, 'promise' | 'upkeep'>>): Promise<Readiness> {
  const cut = new AbortController()
  const late = timers.sleep(ANSWER_WITHIN_MS, cut.signal).then(() => undefined)
  const asked = engine.load([]).catch(() => undefined)
  const answer = await Promise.race([asked, late])
  // Who cannot reach the store learns nothing from it about others.
  const lateMs = answer === undefined ? undefined : await Promise.race([upkeep?.lateMs().catch(() => undefined), late])
  cut.abort()
  const skewMs = answer === undefined ? 0 : Math.abs(answer.now - clock.now())
  const checks = {
    store: answer === undefined ? 'does not answer' : 'ok',
    clock: skewMs <= SKEW_MOST_MS ? 'ok' : `${skewMs} ms from the store’s`,
    ...(lateMs !== undefined && {
      ticker: lateMs === 0 ? 'ok' : `nobody has looked at what is due for ${Math.round(lateMs / 1_000)} s`,
    }),
    ...(promise !== undefined && { durability: promise }),
  }
  return { ready: answer !== undefined, checks }
}

/** The content type that Prometheus reads. */
export const EXPOSITION = 'text/plain; version=0.0.4; charset=utf-8'

export const metrics: Handler = async (_, { metricsText }) => ({
  status: 200,
  type: EXPOSITION,
  body: await metricsText(),
})
