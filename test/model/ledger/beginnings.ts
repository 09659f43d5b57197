/**
 * Where explorations and walks begin: what takes long to come to is not far from one of these. The shipped protocol has led there, also
 * where a mutant is examined, so that it is judged by what it does from there on.
 */
import { LedgerModel } from './model.ts'
import { SHIPPED_PROTOCOL } from './protocol.ts'
import { atFirst, type World } from './world.ts'

const INSERTED = ['p1 insert 1 as n1', 'ship A', 'p1 is told that n1 is done']

/** The other server has not heard of the end. */
const ENDED = [
  ...INSERTED,
  'p1 claim 1 as n2',
  'ship A',
  'p1 is told that n2 is done',
  'B has caught up with A',
  'p1 end 1 as n3',
  'ship A',
  'p1 is told that n3 is done',
]

/** The second process has read what has left since. */
const EVICTED = [
  ...ENDED,
  'fold',
  'p2 reads 1 from the ledger',
  'p1 evict 1 as n4',
  'ship A',
  'p1 is told that n4 is done',
  'fold',
]

/** The first has brought it back and changed it. */
const REOPENED = [
  ...EVICTED,
  'p1 reads 1 from the ledger',
  'p1 restore 1 as n5',
  'ship A',
  'p1 is told that n5 is done',
  'p1 reopen 1 as n6',
]

const ENDED_AGAIN = [
  ...REOPENED,
  'ship A',
  'p1 is told that n6 is done',
  'p1 claim 1 as n7',
  'ship A',
  'p1 is told that n7 is done',
  'p1 end 1 as n8',
  'ship A',
  'p1 is told that n8 is done',
]

/** A master on either side: one has a claim that the other has not heard of. */
const TWO_MASTERS = [...INSERTED, 'B has caught up with A', 'p1 claim 1 as n2', 'B is promoted', 'p2 connects to B']

const joining = (process: string, epoch: number): readonly string[] => [
  `${process} joins`,
  `${process} look`,
  `${process} compare ${epoch}`,
  `${process} fence ${epoch}`,
  `${process} mark ${epoch + 1}`,
]

/** A flushed server has been emptied, and the ledger has not folded all it has. */
const EMPTIED = [
  ...INSERTED,
  'A is flushed',
  ...joining('p1', 1),
  'p1 measure 2',
  'p1 load 2 page 1',
  'p1 load 2 page 2',
]

/** One has been loaded, and not opened; it could go back to where nothing was loaded. */
const LOADED = [
  ...INSERTED,
  'A is flushed',
  ...joining('p1', 1),
  'B has caught up with A',
  'p1 measure 2',
  'p1 load 2 page 1',
  'p1 load 2 page 2',
  'fold',
  'p1 load 2 page 3',
  'p1 load 2 page 4',
]

/** The same, and the second process still has what it read before the job was back, changed and gone again. */
const LOADED_WITHOUT = [
  ...ENDED_AGAIN,
  'fold',
  'p1 evict 1 as n9',
  'ship A',
  'p1 is told that n9 is done',
  'A is flushed',
  ...joining('p1', 1),
  'p1 measure 2',
  'p1 load 2 page 1',
  'p1 load 2 page 2',
  'fold',
  'p1 load 2 page 3',
  'p1 load 2 page 4',
]

const BEHIND = [...ENDED, 'p1 insert 2 as n4', 'ship A', 'p1 is told that n4 is done', 'A restarts from an old file']

/** A server from an old file has one of two entries again that it lacked; it could go back to where it had none. */
const REPLAYED = [...BEHIND, ...joining('p1', 1), 'B has caught up with A', 'p1 measure 2', 'p1 replays n3 for 2']

/** Two join one: the first has marked it, the second is about to. */
const TWO_JOINERS = [...BEHIND, ...joining('p1', 1), 'p2 joins', 'p2 look', 'p2 compare 2', 'p2 fence 2']

const WAYS: readonly (readonly string[])[] = [
  [],
  INSERTED,
  ENDED,
  EVICTED,
  REOPENED,
  ENDED_AGAIN,
  TWO_MASTERS,
  [...TWO_MASTERS, ...joining('p2', 1)],
  EMPTIED,
  LOADED,
  LOADED_WITHOUT,
  REPLAYED,
  TWO_JOINERS,
]

/** With all faults still to come. */
export function beginnings(): readonly World[] {
  const model = new LedgerModel(SHIPPED_PROTOCOL, { names: Infinity, faults: Infinity })
  return WAYS.map((steps) => ({ ...steps.reduce((world, step) => taken(model, world, step), atFirst()), faults: 0 }))
}

function taken(model: LedgerModel, world: World, label: string): World {
  let found: World | undefined
  const labels: string[] = []
  model.successors(world, (text, _, next) => {
    labels.push(text)
    if (text === label) found = next()
  })
  if (found === undefined) throw new Error(`no step is called ${label}: ${labels.join(', ')}`)
  return found
}
