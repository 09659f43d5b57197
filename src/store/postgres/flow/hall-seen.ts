import { LANE_WINDOW } from '../../../core/flow/hall.ts'
import { LookedAt } from '../../looked-at.ts'
import { type Seen, type SeenFlow, type SeenKey, seenFlow, seenKey } from './seen.ts'

/** The hall as one answer of `flow_look` tells it. */
export class HallSeen extends LookedAt<SeenFlow, SeenKey> {
  constructor({ t, r, g, h, fs, ks, o: [firsts, lasts] }: Seen) {
    super({
      now: t,
      flows: (fs ?? []).map(seenFlow),
      keys: new Map((ks ?? []).map((row) => [String(row[0]), seenKey(row, t)])),
      rings: (r ?? []).map(([place, priority, flows]) => [place, priority, flows.map(String)]),
      hungry: g ?? [],
      firsts: firsts ?? [],
      lasts: lasts ?? [],
      ringMost: LANE_WINDOW,
      heldMost: h,
    })
  }
}
