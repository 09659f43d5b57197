/** What the documents ask for and no test holds pawl to, line by line, with the reason. */
export interface Unheld {
  /** `004:73`. */
  readonly rule: string
  readonly says: string
  readonly why: string
  /** A test cites the line for the rest of what it says. */
  readonly partly: boolean
}

const unheld = (rule: string, says: string, why: string): Unheld => ({ rule, says, why, partly: false })
const partly = (rule: string, says: string, why: string): Unheld => ({ rule, says, why, partly: true })

export const UNHELD: readonly Unheld[] = [
  unheld(
    '001:108',
    'plan 01’s schema must not change',
    'The schema is in a document of its own. What 001 itself says about fields is held against every record.',
  ),
  unheld(
    '001:110',
    'plan 04 says when a stall is detected, how long a lease lasts, and who may reclaim',
    'It says who decides, not what. What was decided is above, with what 001 leaves to its other plans.',
  ),
  unheld(
    '001:119',
    '`bun test` and `bun run typecheck` pass',
    'They are two parts of the gate, `core on bun` and `typecheck`, and no test of their own.',
  ),
  partly(
    '002:62',
    'a late result may overwrite an ending where policy allows',
    'A permission that is not used: no policy allows it.',
  ),
  partly(
    '004:34',
    'writes are keyed by natural ids',
    'What a handler writes elsewhere is its own. A step that is done is not done again; who writes inside one names what it writes.',
  ),
  unheld(
    '004:73',
    'state in Redis, written through to Postgres',
    'That is which store one opens, `redis://…?ledger=postgres://…` (redis.md), and no rule about the life of a job: what such a store promises is proved where the others’ promises are.',
  ),
  partly(
    '004:78',
    'results go to a document store or to Qdrant',
    'pawl keeps the result and the pointers that a handler leaves. Where else it writes is its own.',
  ),
  unheld(
    '004:79',
    'the ingestion job reads results and writes to Qdrant and Neo4j in batches',
    'That is the work of a handler, and no rule about the life of its job.',
  ),
]
