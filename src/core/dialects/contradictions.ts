/** Where the documents contradict each other or themselves, and how each case is settled. For the documentation. */
export interface Contradiction {
  readonly documents: string
  readonly says: string
  readonly settled: string
}

const about = (documents: string, says: string, settled: string): Contradiction => ({ documents, says, settled })

export const CONTRADICTIONS: readonly Contradiction[] = [
  about(
    '000A, 000B',
    'A forbids `running → queued` and demands it when a lease expires; B lets another worker claim.',
    'The tables of both have one edge more, `assigned`/`running → queued`, "attempt closed". It is legal only if the next claim carries a higher attempt: every claim of ours does, and `derive` checks it in foreign logs.',
  ),
  about(
    'all',
    'A cancels only from `running`, B from three states, 001 never, 002 from any, 003 not from `Queued` or `Retrying`, 004 not from `retry_pending`.',
    'A job that is bound to no document is cancelled from any live state, and each view shows the moves its document needs. A bound job is cancelled where its document has the move, and otherwise refused.',
  ),
  about(
    '000A, 000B',
    'A has a state for dead letters; B forwards what has failed to a queue for them.',
    'One terminal write chooses `failed` or `dead_lettered`, by policy. In B both show as `failed`; bound to B whatever fails for good is `dead_lettered`, so that it is in every list of dead letters.',
  ),
  about(
    '000A',
    'Hard cancel: immediate termination.',
    'The job is `cancelled` and its lease dead at once, whatever its handler does. The handler itself is ended where its type says `isolate: process`; elsewhere it is told (`ctx.signal`), which is cooperative.',
  ),
  about(
    '000A, 000B',
    'There is no state in which a job waits for its retry.',
    '`retrying` shows as `queued`, due later.',
  ),
  about(
    '000A, 000B',
    'A has two clocks for losing a job (the lease, two missed heartbeats); B wants a lease no shorter than the processing time.',
    'One lease window: the lease or the missed heartbeats, whichever is shorter. Without heartbeats the lease must outlast the attempt.',
  ),
  about(
    '000, 004',
    'A lost lease counts as an attempt.',
    '`budget: shared` in the presets of these; elsewhere lost leases are counted apart. A claim that was lost before anything started is no attempt where the document has no way from there to an ending (000B, 004; 000A where it ends as `failed`).',
  ),
  about(
    '001, 002, 003',
    '001: terminal records are immutable. 002: "unless policy allows". 003: `Failed × job_requeued → Queued` stands in the table, against its own first invariant.',
    'Immutable within a generation; reopening begins the next one. It shows as a new record, linked by its id, in 000, 001, 002 and 004; in 003 a failed job is requeued in place, a cancelled one starts anew. `derive` reports it as a breach of invariant 1, because to a stream without generations it is one. Bound to 000, 001, 002 or 004 a job cannot be reopened.',
  ),
  about(
    '001',
    'Compare-and-swap on every command, while the owner’s own heartbeats raise `rev`.',
    'A job bound to 001 demands `expectedRev` with every command that names it (`REV_REQUIRED`), compared exactly: a heartbeat raises it like any other event, and is an entry of the log each. A worker that was outrun by its own heartbeat says its word again; the ticker states the revision it judged.',
  ),
  about(
    '001',
    '`fail` is final; there is no cancel and no state to retry in.',
    'So it is for a job bound to 001: only stall and requeue bring it back, as often as it takes, since nothing leads from `stalled` to `failed`. It completes and fails while it runs and never before: its worker says `start`. The time limit of an attempt is kept by its worker, the only one that may fail it. In the view of other jobs a retry shows as `stalled`, then `queued`; every unhappy ending as `failed`, and its `error.code` says which.',
  ),
  about(
    '001',
    '`stalled` is the only status without owner and lease that nobody may take as queued.',
    '`waiting` and `parked` show as `stalled`.',
  ),
  about(
    '002',
    '`SCHEDULED` and `DISPATCHED`, and never a way back.',
    'Admitted and queued; claimed. The view shows the highest status reached: a job that is queued again stays `RUNNING`.',
  ),
  about(
    '002',
    'The worker moves `DISPATCHED` to `SUCCEEDED` or `FAILED` (text); the diagram has no such arrows.',
    'Both are in the table, marked.',
  ),
  about(
    '002',
    '`any → CANCELLED`.',
    'From any status that is not an ending: its other rule, that an ending is not overwritten, is the more careful one.',
  ),
  about(
    '002',
    '`TIMEOUT` for what is stale and for what was never started.',
    'The job’s deadline, and not started in time. For a job bound to 002 a lost lease, an attempt that takes too long, and not started in time after the claim; never a job that waits in SCHEDULED. Elsewhere a lost lease takes the retry path. The entry of the log says which it was, where it is the reconciler’s: `marks` is `stale` or `not-started`.',
  ),
  about(
    '002',
    'The same state may be set twice; a result for an ended job is logged and changes nothing.',
    'A repetition is answered as the first time. A late word is kept beside the log with what it said (status, pointer, error), and overwrites nothing.',
  ),
  about(
    '002',
    'A retry is a new job unless consumers are idempotent.',
    'Bound to 002 the failed job ends, and its successor is enqueued in the same commit with `parentId` and what is left of the budget, unless the type says `idempotent: true`. So does a `TIMEOUT` with budget left, whatever the type says: an ending is final.',
  ),
  about(
    '002',
    'Every job is `PENDING` when the gateway accepts it; a denial is `SCHEDULED → DENIED`.',
    'Bound to 002 a job waits for `admit` or `deny`, and a denial schedules it in the same commit. `admission: false` is refused.',
  ),
  about(
    '002',
    'Nothing is handed back once it is `DISPATCHED`.',
    'A worker claims no job of such a type before it can begin it, and none that it does not know. One that goes away while a handler runs lets the lease end: `TIMEOUT`, and a successor.',
  ),
  about(
    '002',
    '`context_ptr` and `result_ptr` are URIs.',
    'Kept as given, never fetched. Of a value that pawl keeps itself it is `pawl:/jobs/<id>/input` or `…/output`.',
  ),
  about(
    '002',
    'What a `JobResult` status asks for.',
    '`SUCCEEDED` is complete, `FAILED` fail, `CANCELLED` a cancel by the owner, `TIMEOUT` a time limit, `DENIED` a dead letter for `policy_violation`.',
  ),
  about(
    '003',
    '`job_leased` followed by `job_running` is illegal in its table, though both are its events.',
    'The view tells the claim (`job_leased`) and keeps silent about the start. Read as `003-explicit`, who is claimed is `Leased`, the extension the document names, and the start of its loop is `job_running`; a job that is queued at once is `job_queued`, one that waits for admission `job_created`.',
  ),
  about(
    '003',
    '`Running × wait_completed → Queued` would kick a live job out.',
    'A repeated signal is a replay and adds no event. The cell exists for `derive` only.',
  ),
  about(
    '003',
    'Nothing leads to `Parked` or `Retrying`.',
    'In the view a parked job is still `Waiting`, a retry shows as `job_requeued`. `derive` accepts `job_parked` and `job_retrying`, the extension the document invites; read as `003-explicit` they are states of their own, as it allows.',
  ),
  about(
    '003',
    'Events of plans, nodes and tools change no state: they are for replay, trace and verification.',
    'A handler says them with `ctx.record`, and they are told under its names. `pawl jobs replay` holds a handler against its log; `pawl verify --attest` writes into the audit log who verified which stretch, with its hash, and `pawl verify` holds the log against that.',
  ),
  about(
    '003',
    'After an ending nothing may follow; if it does, the last event counts.',
    '`derive` does exactly so, and reports it.',
  ),
  about(
    '004',
    'A missed heartbeat means failed, or a new schedule.',
    'A transient `timeout_soft` while the budget lasts, then `failed` with `E_TIMEOUT`.',
  ),
  about(
    '004',
    'A wall clock of 300 s for synchronous jobs, configurable for asynchronous ones; and no way from `queued` or `retry_pending` to `failed`.',
    '`deadline` counts from the first start and ends only what runs; a retry that would come after it is not made; one that was lost before it started is tried again, and ends once it runs. Who waits for the end (`POST /v1/jobs?wait`) has 300 s, the others what their type says.',
  ),
  about(
    '004',
    'An append-only log for audits.',
    'Retention spares jobs bound to 004, and does not shorten their logs, until somebody sets how long to keep them.',
  ),
  about(
    '004',
    'One structured log line per transition: `{ job_id, from, to, reason, attempt }`.',
    'The lines of bound jobs have its statuses, and there is none for what is no transition to it (a claim).',
  ),
  about(
    '004',
    'There is no state between queued and running.',
    'A claimed job that has not started shows as `queued`, or as `retry_pending` if it is not its first claim.',
  ),
]

/** What document 001 leaves to its neighbours, and where pawl answers it. */
export const LEFT_OPEN: readonly { readonly plan: string; readonly question: string; readonly answer: string }[] = [
  {
    plan: '01 (contract)',
    question: 'the schema of the record and the operations on it',
    answer:
      'The record of `src/core/job.ts`; its view in the words of 001 and the validators of `src/core/contract/`. Unknown fields are ignored, so the schema may grow.',
  },
  {
    plan: '03 (idempotency key)',
    question: 'the format of `dedupe_key`, and how duplicates are suppressed',
    answer:
      'The key is opaque. At most one live job per tenant, type and key by default; or for a window, or for ever.',
  },
  {
    plan: '04 (leases and reclaim)',
    question: 'when a stall is detected, how long a lease lasts, who may reclaim, and after which delay',
    answer:
      'When the lease has expired by the store’s clock; how long one is granted, and the heartbeat, stand below with its defaults. A stalled job may be claimed at once; the ticker requeues it in the commit that stalls it.',
  },
]
