/** Is anybody there, and does the store answer? */
import { type Handler, json } from '../call.ts'

export const livez: Handler = async () => json(200, { status: 'alive' })

/** What is slower than this is not ready, whatever it may be. */
const ANSWER_WITHIN_MS = 2_000
const SKEW_MOST_MS = 5_000

export const readyz: Handler = async (_, { engine, clock, timers }) => {
  const checks: Record<string, string> = {}
  const cut = new AbortController()
  const late = timers.sleep(ANSWER_WITHIN_MS, cut.signal).then(() => undefined)
  const asked = engine.load([]).catch(() => undefined)
  const answer = await Promise.race([asked, late])
  cut.abort()
  checks['store'] = answer === undefined ? 'does not answer' : 'ok'
  const skewMs = answer === undefined ? 0 : Math.abs(answer.now - clock.now())
  checks['clock'] = skewMs <= SKEW_MOST_MS ? 'ok' : `${skewMs} ms from the store’s`
  return json(answer === undefined ? 503 : 200, { status: answer === undefined ? 'not ready' : 'ready', checks })
}

export const metrics: Handler = async (_, { metricsText }) => ({
  status: 200,
  type: 'text/plain; version=0.0.4; charset=utf-8',
  body: await metricsText(),
})
