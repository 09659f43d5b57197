/** What stores keep and tell of flow keys (S18). */
import type { Gate } from '../core/flow/gate.ts'
import type { Counted, Slot } from '../core/flow/slots.ts'
import type { Watch } from '../core/flow/watch.ts'
import type { Job, Time } from '../core/job.ts'

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

/**
 * What is derived is made anew from what it is derived from: slots from where jobs are, and flows so that somebody looks at them.
 * Nothing that a job, a key or a queue says changes by it.
 */
export interface Mend {
  readonly tenant: string
  /** Of these keys, slots whose jobs neither stand nor are owned go. */
  readonly keys: readonly string[]
  /** Each of these that stands or is owned has a slot of every key that it names. */
  readonly jobs: readonly Job[]
  /** One of each flow: it waits nowhere, and is looked at as if it had just come. */
  readonly held: readonly Job[]
  /** What is to be added to what keys have spent in their present windows. */
  readonly spent: readonly { readonly key: string; readonly amount: number }[]
  /** Claims of slots that are free again, which the rates of their keys are to count. */
  readonly claims: readonly { readonly key: string; readonly at: Time }[]
}

/** What lets a job in, as of now. */
export interface Lobby {
  /** It waits to be let in. */
  readonly held: boolean
  /** Its keys, in the order of its `spec`, those the store knows. */
  readonly keys: readonly KeyView[]
  /** Flows that wait at its lane because it is full, its own apart. */
  readonly others: number
  /** Of a job that is held: who will look at its flow. Absent: nobody. */
  readonly watch?: Watch | undefined
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
