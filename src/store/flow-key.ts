/** What stores keep and tell of flow keys (S18). */
import type { Gate } from '../core/flow/gate.ts'
import type { Counted, Slot } from '../core/flow/slots.ts'

/** A flow key as it is at first. Of one that is there already nothing changes. */
export type KeyBirth = Pick<FlowKey, 'key' | 'gate' | 'text'>

/** What a store keeps of a flow key. */
export interface FlowKey {
  readonly tenant: string
  readonly key: string
  /** What is compared with slots, computed by core whenever the document changes. All that a store understands. */
  readonly gate: Gate
  /** The key's document: its limits and its record, as JSON. Stores never look inside. */
  readonly text: string
  /** The last changes of the key, each with its cause. Stores never look inside. */
  readonly log: string | undefined
  /** Counts its changes, from 1 on. */
  readonly rev: number
}

/** The next revision of a key. Applied if and only if it is still at `rev` (0: there is none). */
export interface KeyMove {
  readonly key: string
  readonly rev: number
  /**
   * The text it must have at that revision, where the revision is one that another change of the same call is to make: if that one
   * is not applied, somebody else's may be there.
   */
  readonly on?: string | undefined
  readonly next:
    | {
        readonly gate: Gate
        readonly text: string
        /** Absent: the log stays as it is. */
        readonly log?: string | undefined
      }
    /** The revision is compared and nothing else: what was decided on it changes nothing about the key. */
    | 'same'
    /** The key is removed, with the flows that name it. A conflict as long as a job is held, stands or is owned under it. */
    | 'forgotten'
}

/** What lets a job in, as of now. */
export interface Lobby {
  /** It waits to be let in. */
  readonly held: boolean
  /** Its keys, in the order of its `spec`, those the store knows. */
  readonly keys: readonly KeyView[]
  /** Flows that wait at its lane because it is full, its own apart. */
  readonly others: number
}

/** A flow key and what is taken of it. */
export interface KeyView extends FlowKey, Counted {
  /** Slots let in at or after `gate.since` where that is a time, the oldest first, ten at most. */
  readonly probes: readonly Slot[]
  /** Jobs held by flows that wait at it, counted up to 1,000. */
  readonly held: number
  /** Where asked for: jobs that stand or are owned under it, counted anew. */
  readonly recount?: number | undefined
}
