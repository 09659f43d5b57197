import { hash53 } from '../../../core/hash.ts'
import { storable } from '../../codec/text.ts'
import type { Beat, BeatAnswer, Beaten } from '../../store.ts'
import type { Calls } from '../connection/calls.ts'
import { word } from '../connection/reply.ts'
import { idDigits } from '../job/id-text.ts'
import { lettersIn, portions } from '../script/portions.ts'

export function heartbeat(calls: Calls, beats: readonly Beat[]): Promise<BeatAnswer> {
  const rows = beats.map(({ id, fence, requestId }) => [
    idDigits(id) ?? '',
    storable(fence),
    JSON.stringify(storable(requestId)),
    String(hash53(requestId)),
  ])
  return calls.repeated(async () => {
    const items: Beaten[] = []
    let now = 0
    const sent = portions(rows, lettersIn)
    for (const part of sent.length === 0 ? [[]] : sent) {
      const answer = await calls.call('heartbeat', part.flat())
      now = calls.timeIn(answer)
      for (const reply of answer.slice(1)) items.push(beaten(word(reply)))
    }
    return { now, items }
  })
}

function beaten(said: string): Beaten {
  if (said === 'lost' || said === 'careful') return { status: said }
  const [rev, beats, leaseExpiresAt, replayed] = said.split(' ')
  return {
    status: 'renewed',
    rev: Number(rev),
    beats: Number(beats),
    leaseExpiresAt: Number(leaseExpiresAt),
    replayed: replayed === '1',
  }
}
