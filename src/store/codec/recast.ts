/** What admission has made of a job, as a list: in the event that tells it, with the limits it brought; in the record, without. */
import type { Limit } from '../../core/flow/key.ts'
import type { Spec } from '../../core/job.ts'
import type { Recast, Recasted, Redirect, Throttle } from '../../core/recast.ts'
import { list, maybeText, type Packed, parsed, text, texts, trimmed } from './packed.ts'

export const packRecast = ({ redirect, labels, throttles }: Recast): Packed =>
  trimmed([redirect && packRedirect(redirect), labels, throttles?.map(packThrottle)])

export const packRecasted = ({ redirect, labels, keys }: Recasted): Packed =>
  trimmed([redirect && packRedirect(redirect), labels, keys && [...keys]])

export function maybeRecast(packed: Packed): Recast | undefined {
  if (packed == null) return undefined
  const [redirect, labels, throttles] = list(packed)
  return {
    redirect: maybeRedirect(redirect),
    labels: labels == null ? undefined : texts(labels),
    throttles: throttles == null ? undefined : list(throttles).map(unpackThrottle),
  }
}

export function unpackRecasted(packed: Packed, asked: Spec): Recasted {
  const [redirect, labels, keys] = list(packed)
  return {
    asked,
    redirect: maybeRedirect(redirect),
    labels: labels == null ? undefined : texts(labels),
    keys: keys == null ? undefined : list(keys).map(text),
  }
}

const packRedirect = ({ from, to, queue, type, rule }: Redirect): Packed => [from, to, queue, type, rule]

function maybeRedirect(packed: Packed): Redirect | undefined {
  if (packed == null) return undefined
  const [from, to, queue, type, rule] = list(packed)
  return { from: text(from), to: text(to), queue: text(queue), type: text(type), rule: text(rule) }
}

/** A limit is text: what may be in one is not the codec's business. */
const packThrottle = ({ key, rule, limit }: Throttle): Packed => trimmed([key, rule, limit && JSON.stringify(limit)])

function unpackThrottle(packed: Packed): Throttle {
  const [key, rule, limit] = list(packed)
  const said = maybeText(limit)
  return { key: text(key), rule: text(rule), limit: said === undefined ? undefined : (parsed(said) as Limit) }
}
