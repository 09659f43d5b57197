import { lanesAsked } from '../claim/lanes-asked.ts'
import { type FlowStatements, flowStatementsIn } from '../flow/statements.ts'

/** Every statement the adapter sends, by name. The functions they call live beside their readers, a file each; this is their only caller. */
export interface Statements extends FlowStatements {
  readonly insertPlain: string
  /** As `insertPlain`, then `offer`s the jobs to a parked claim in the same commit; if none takes all, listeners are notified. */
  readonly insertPlainOffering: string
  readonly insertKeyed: string
  readonly insertKeyedOffering: string
  readonly enqueue: string
  readonly enqueueOffering: string
  readonly enqueueEach: string
  readonly enqueueTogether: string
  /** Whether a transaction is open: fails where none is. */
  readonly isOpen: string
  readonly claim: string
  readonly inputs: string
  readonly settleLeases: string
  readonly settleBundles: string
  readonly missed: string
  readonly loosen: string
  readonly recount: string
  readonly move: string
  readonly putBack: string
  readonly internKind: string
  readonly internQueues: string
  readonly kinds: string
  readonly sides: string
  readonly clock: string
  readonly keepTime: string
  readonly keptTime: string
  readonly records: string
  readonly bodies: string
  readonly aliases: string
  readonly findIds: string
  readonly longEnded: string
  readonly tenants: string
  readonly log: string
  readonly logs: string
  readonly altered: string
  readonly commitsAt: string
  readonly caused: string
  readonly correlated: string
  readonly linked: string
  readonly bornBetween: string
  readonly claimedBetween: string
  readonly ledBetween: string
  readonly committedBetween: string
  readonly jobsOf: string
  readonly heartbeat: string
  readonly due: string
  readonly unjudged: string
  readonly placeEntries: string
  readonly feedPage: string
  readonly feedEnd: string
  readonly tallies: string
  readonly talliesIn: string
  readonly backlog: string
  readonly trimFeed: string
  readonly summarize: string
  readonly settings: string
  readonly annotate: string
  readonly annotations: string
  readonly compact: string
  readonly purge: string
  readonly notify: string
  /** `pg_xact_status` of each transaction, in the order in which they are named. */
  readonly xactStatus: string
  /** On a connection of its own. */
  readonly hear: string
  /**
   * What some of them are in a transaction of the caller's: a lock is waited for longer, and what is JSON already is handed
   * over as text, since some drivers would write it as JSON once more. What writes tells the transaction's number besides (`isNumbered`).
   */
  readonly inCallers: ReadonlyMap<string, string>
}

const NUMBER = 'pg_current_xact_id_if_assigned()::text as xact'

/** Whether the last column of its answer is the number of the transaction it was said in. */
export const isNumbered = (text: string): boolean => text.includes(NUMBER)

const COLUMNS = '$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13'
const KEYS = '$14, $15, $16, $17, $18'

export const statementsIn = (schema: string): Statements => {
  const s = quoted(schema)
  const flow = flowStatementsIn(s)
  const enqueue = `select * from ${s}.enqueue($1)`
  const enqueueTogether = `select * from ${s}.enqueue_together($1)`
  const settleLeases = `select * from ${s}.settle_leases($1, $2, $3, $4, $5)`
  const move = `select * from ${s}.move($1, $2)`
  const bodies = `select * from ${s}.bodies($1)`
  const asText = (text: string) => text.replace('$1', () => '$1::text::json')
  const patient = (text: string) => asText(text).replace(/\)$/, ', true)')
  const telling = (text: string) => `${patient(text).replace('select *', `select e.*, ${NUMBER}`)} as e`
  return {
    ...flow,
    insertPlain: `select ${s}.insert_plain(${COLUMNS})`,
    insertPlainOffering: `select i, ${s}.offer($14, $1, $15, $16, $17) from ${s}.insert_plain(${COLUMNS}) as i`,
    insertKeyed: `select ${s}.insert_keyed(${COLUMNS}, ${KEYS})`,
    insertKeyedOffering: `select i, ${s}.offer($19, $1, $20, $21, $22) from ${s}.insert_keyed(${COLUMNS}, ${KEYS}) as i`,
    enqueue,
    enqueueEach: `select * from ${s}.enqueue_each($1)`,
    enqueueTogether,
    enqueueOffering: `select e.*, ${s}.offer($2, $3, $4, $5, $6) from ${s}.enqueue($1) as e`,
    // Every role that may open the store may read this table, whatever else it may not.
    isOpen: `lock table ${s}.migration in access share mode`,
    claim: `select c.*, case when coalesce(cardinality(c.ids), 0) < $8 and not c.is_repeat then ${s}.is_contended(l.lanes, c.now_ms) end,
        case when c.is_parked then ${s}.next_ready(l.lanes, c.now_ms) end
      from ${lanesAsked(s, '$13')} as l
      cross join lateral ${s}.claim($1, $2, $3, $4, $5, l.lanes, $7, $8, $9, $10, $11, $12) as c`,
    inputs: `select * from ${s}.inputs($1)`,
    settleLeases,
    settleBundles: `select * from ${s}.settle_bundles($1, $2, $3, $4, $5, $6)`,
    missed: `select ${s}.missed($1, $2)`,
    loosen: `select ${s}.loosen($1, true)`,
    recount: `select ${s}.recount($1)`,
    move,
    putBack: `select * from ${s}.put_back(${COLUMNS}, ${KEYS}, $19)`,
    internKind: `select ${s}.intern_kind($1, $2, $3, $4, $5)`,
    internQueues: `select ${s}.intern_queues($1)`,
    kinds: `select * from ${s}.kinds_by_id($1)`,
    sides: `select * from ${s}.sides($1, $2)`,
    clock: `select ${s}.clock()`,
    keepTime: `select now_ms, set_back, ${s}.kept_at() from ${s}.keep_time()`,
    keptTime: `select ${s}.clock(), ${s}.kept_at()`,
    records: `select * from ${s}.records($1)`,
    bodies,
    aliases: `select ${s}.aliases($1)`,
    findIds: `select * from ${s}.find_ids($1)`,
    longEnded: `select * from ${s}.long_ended($1, $2, $3, $4)`,
    tenants: `select * from ${s}.tenants()`,
    log: `select * from ${s}.log($1, $2, $3)`,
    logs: `select * from ${s}.logs($1, $2)`,
    altered: `select * from ${s}.altered($1)`,
    commitsAt: `select * from ${s}.commits_at($1, $2)`,
    caused: `select * from ${s}.caused($1)`,
    correlated: `select * from ${s}.correlated($1, $2, $3, $4)`,
    linked: `select * from ${s}.linked($1, $2, $3, $4)`,
    ...spansIn(s),
    jobsOf: `select * from ${s}.jobs_of($1, $2)`,
    heartbeat: `select * from ${s}.heartbeat($1)`,
    due: `select * from ${s}.due($1)`,
    unjudged: `select * from ${s}.unjudged($1)`,
    ...feedStatements(s),
    settings: `select * from ${s}.settings($1)`,
    annotate: `select ${s}.annotate($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    annotations: `select * from ${s}.annotations($1)`,
    compact: `select ${s}.compact($1, $2, $3, $4, $5)`,
    purge: `select * from ${s}.purge($1)`,
    notify: 'select pg_notify($1, $2)',
    xactStatus: 'select pg_xact_status(x::xid8) from unnest($1::text[]) with ordinality as u(x, n) order by n',
    hear: `select ${s}.hear($1)`,
    inCallers: new Map([
      ...[enqueue, enqueueTogether, settleLeases, move, flow.flowMove].map((text) => [text, telling(text)] as const),
      [bodies, asText(bodies)],
    ]),
  }
}

/** What happened within a time. */
const spansIn = (s: string) => ({
  bornBetween: `select * from ${s}.born_between($1, $2, $3, $4)`,
  claimedBetween: `select * from ${s}.claimed_between($1, $2, $3, $4)`,
  ledBetween: `select * from ${s}.led_between($5, $1, $2, $3, $4)`,
  committedBetween: `select * from ${s}.committed_between($1, $2, $3, $4)`,
})

const feedStatements = (s: string) => ({
  placeEntries: `select ${s}.place_entries($1, $2)`,
  feedPage: `select * from ${s}.feed_page($1, $2)`,
  feedEnd: `select * from ${s}.feed_end()`,
  tallies: `select * from ${s}.tallies($1)`,
  talliesIn: `select * from ${s}.tallies_in($1, $2)`,
  backlog: `select * from ${s}.backlog($1)`,
  trimFeed: `select ${s}.trim_feed($1, $2)`,
  summarize: `select ${s}.summarize()`,
})

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
