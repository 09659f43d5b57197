/**
 * The tables. A job's words are written once (`job`, whose row is its first event); while it lives it has exactly one
 * small row in exactly one of `ready`, `lease`, `rest`, and once it has ended one in `done`. Moving the row is the
 * transition, the conditional DELETE is the compare-and-swap. What happened before the row it is in now is in `past`,
 * which only grows.
 *
 * A migration is for ever: to change the schema, add one. The file's `user_version` counts those it has seen.
 */
export const APPLICATION_ID = 0x70617770

export const MIGRATIONS: readonly string[] = [
  `
  -- With main and needs: the side of a queue where jobs stand that need something. Its number is one among those of queues.
  CREATE TABLE queue (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    main INTEGER REFERENCES queue (id),
    needs TEXT,
    CHECK ((main IS NULL) = (needs IS NULL))
  ) STRICT;
  CREATE UNIQUE INDEX queue_name ON queue (tenant, name) WHERE main IS NULL;
  CREATE UNIQUE INDEX queue_side ON queue (main, needs) WHERE main IS NOT NULL;

  -- Everything siblings share. lease_ms is how long a claim lasts.
  CREATE TABLE kind (
    id INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL REFERENCES queue (id),
    type TEXT NOT NULL,
    lease_ms INTEGER NOT NULL CHECK (lease_ms > 0),
    text TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE INDEX kind_queue ON kind (queue, type);

  CREATE TABLE job (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    kind INTEGER NOT NULL,
    at INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    -- Mark of the correlation id, where that is not the job's own id.
    correlation INTEGER,
    head TEXT,
    -- Of the input, as it was written (sum.ts).
    sum INTEGER,
    input TEXT
  ) STRICT;
  CREATE INDEX job_correlation ON job (correlation, id) WHERE correlation IS NOT NULL;

  -- What jobs can be looked for by (codec/marks.ts): labels, parent, workflow, dedupe key.
  CREATE TABLE mark (
    mark INTEGER NOT NULL,
    job INTEGER NOT NULL,
    PRIMARY KEY (mark, job)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX mark_job ON mark (job);

  -- lane = queue * 10 + priority: one FIFO; of a job that needs something, the number of its queue's side. What is not ready yet sits at its far end and costs nothing.
  CREATE TABLE ready (
    lane INTEGER NOT NULL,
    ready_at INTEGER NOT NULL,
    id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    state TEXT NOT NULL,
    rev INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    -- Will be on its lease.
    careful INTEGER NOT NULL,
    tick INTEGER,
    -- Mark of the last error's code.
    code INTEGER,
    -- Absent: the record is what the job's first event makes it.
    record TEXT,
    PRIMARY KEY (lane, ready_at, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ready_kind ON ready (kind, state, id);
  CREATE INDEX ready_code ON ready (code, id) WHERE code IS NOT NULL;
  CREATE INDEX ready_tick ON ready (tick) WHERE tick IS NOT NULL;

  -- One row for each claim call that was given something, for as long as a lease of it lives.
  CREATE TABLE claim (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    -- For its leases that have none of their own; absent once they have.
    tick INTEGER,
    request TEXT NOT NULL,
    worker TEXT NOT NULL,
    actor TEXT NOT NULL
  ) STRICT;
  CREATE INDEX claim_request ON claim (request);
  CREATE INDEX claim_tick ON claim (tick) WHERE tick IS NOT NULL;

  CREATE TABLE lease (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    state TEXT NOT NULL,
    rev INTEGER NOT NULL,
    fence TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    -- Not later than the record's nextTickAt; a heartbeat leaves it alone. Absent: the claim's.
    tick INTEGER,
    -- 1: what its heartbeats say is core's to decide (isMereRenewal).
    careful INTEGER NOT NULL,
    -- The claim, its revision and sequence number, and the state it came from; claim is absent for a lease that came by commit.
    claim INTEGER,
    claim_rev INTEGER,
    claim_seq INTEGER,
    claim_from TEXT,
    claim_expires_at INTEGER,
    -- Who has it, where no claim says so.
    worker TEXT,
    attempt INTEGER,
    generation INTEGER,
    -- 1 once the claim has been written to the log.
    logged INTEGER NOT NULL DEFAULT 0,
    -- Heartbeats under this lease; and those since the last event that was none.
    beats_all INTEGER NOT NULL DEFAULT 0,
    beats INTEGER NOT NULL DEFAULT 0,
    beats_from INTEGER,
    beats_to INTEGER,
    beat_id TEXT,
    code INTEGER,
    -- The record before the claim; absent: what the first event makes it.
    before TEXT,
    -- The record before the heartbeats; absent: what the claim makes of the one before it.
    record TEXT
  ) STRICT;
  CREATE INDEX lease_tick ON lease (tick) WHERE tick IS NOT NULL;
  CREATE INDEX lease_code ON lease (code, id) WHERE code IS NOT NULL;

  -- Alive, not claimable, owned by nobody.
  CREATE TABLE rest (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    state TEXT NOT NULL,
    rev INTEGER NOT NULL,
    tick INTEGER,
    code INTEGER,
    record TEXT
  ) STRICT;
  CREATE INDEX rest_kind ON rest (kind, state, id);
  CREATE INDEX rest_code ON rest (code, id) WHERE code IS NOT NULL;
  CREATE INDEX rest_tick ON rest (tick) WHERE tick IS NOT NULL;

  -- Ended. output is the body of that name, where it is small.
  CREATE TABLE done (
    kind INTEGER NOT NULL,
    state TEXT NOT NULL,
    id INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    ending INTEGER NOT NULL,
    code INTEGER,
    output TEXT,
    -- Absent: the ending's, as where nothing but the job is its own.
    log TEXT,
    PRIMARY KEY (kind, state, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX done_code ON done (code, id) WHERE code IS NOT NULL;
  -- With a long log (core/compact.ts), for whoever shortens them. Most have a short one, and cost nothing here.
  CREATE INDEX done_long ON done (ended_at, id) WHERE rev >= 20;

  -- How jobs ended, one row for all that ended alike in one commit. opening and log are the events since the last row
  -- in past. record absent: it is the fold of the first event, opening and log.
  CREATE TABLE ending (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    -- How many of them are still there.
    jobs INTEGER NOT NULL CHECK (jobs > 0),
    opening TEXT,
    log TEXT NOT NULL,
    record TEXT
  ) STRICT;
  CREATE INDEX ending_ended ON ending (state, ended_at);

  -- Events, a stretch of consecutive ones per row; rev is that of the last.
  CREATE TABLE past (
    job INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    opening TEXT,
    log TEXT NOT NULL,
    PRIMARY KEY (job, rev)
  ) STRICT, WITHOUT ROWID;

  -- Which requests are told of in which stretch of past, by hash; 0: it must be looked at, whichever is looked for.
  CREATE TABLE asked (
    job INTEGER NOT NULL,
    request INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (job, request, rev)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE body (
    job INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (job, name)
  ) STRICT;

  CREATE TABLE key (
    tenant TEXT NOT NULL,
    purpose TEXT NOT NULL,
    key TEXT NOT NULL,
    job INTEGER NOT NULL,
    until INTEGER,
    PRIMARY KEY (tenant, purpose, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX key_job ON key (job);

  -- Late words: beside the log, once each.
  CREATE TABLE annotation (
    job INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    command TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (job, generation, attempt, command)
  ) STRICT, WITHOUT ROWID;

  -- The feed: one entry for each commit, numbered by it. items: [[rev, type, kind, at, job, job, …], …], rev ascending.
  CREATE TABLE entry (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    items TEXT NOT NULL
  ) STRICT;

  -- In which entries there are events of a type that happened at a time.
  CREATE TABLE moment (
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (type, at, position)
  ) STRICT, WITHOUT ROWID;

  -- Events whose correlation id is not their job's, by its mark.
  CREATE TABLE echo (
    correlation INTEGER NOT NULL,
    job INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    PRIMARY KEY (correlation, job, rev)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX echo_job ON echo (job);

  CREATE TABLE tally (
    kind INTEGER NOT NULL,
    state TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (kind, state)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE setting (
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    rev INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (collection, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE counter (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO counter VALUES ('purged', 0);
  `,
  `
  -- It was handed out to a ticker, and is not before then. Its tick stays what it is, because a claim compares it.
  ALTER TABLE ready ADD COLUMN again INTEGER;
  DROP INDEX ready_tick;
  CREATE INDEX ready_tick ON ready (tick, again) WHERE tick IS NOT NULL;
  `,
  `
  -- What waits as one (hall/). pass: how far it is in taking turns; waits_at: a place as core writes it, its name a number of ours.
  CREATE TABLE flow (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    queue INTEGER NOT NULL,
    -- Where its jobs stand that were let in.
    lane INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    -- JSON: numbers of keys, in the order declared.
    keys TEXT NOT NULL,
    -- The name of the key that has its weight.
    weighed_by TEXT NOT NULL,
    pass REAL NOT NULL DEFAULT 0,
    waits_at TEXT,
    next_at INTEGER
  ) STRICT;
  CREATE INDEX flow_ring ON flow (waits_at, priority, pass, id) WHERE waits_at IS NOT NULL;
  CREATE INDEX flow_next ON flow (next_at) WHERE next_at IS NOT NULL;

  -- gate: JSON of the numbers that core compares slots with, its weight once more beside it. rev 0: named by jobs, and nobody has said anything of it.
  CREATE TABLE flow_key (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    rev INTEGER NOT NULL,
    gate TEXT NOT NULL,
    weight REAL NOT NULL CHECK (weight > 0),
    text TEXT NOT NULL,
    log TEXT,
    -- What was spent in the budget's window of this number.
    spent REAL NOT NULL DEFAULT 0,
    spent_in INTEGER NOT NULL DEFAULT 0,
    -- When it is to be looked at though nobody frees a slot.
    wake_at INTEGER,
    UNIQUE (tenant, name)
  ) STRICT;
  CREATE INDEX flow_key_wake ON flow_key (wake_at) WHERE wake_at IS NOT NULL;

  -- Which flows name a key.
  CREATE TABLE crossing (
    key INTEGER NOT NULL,
    flow INTEGER NOT NULL,
    PRIMARY KEY (key, flow)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX crossing_flow ON crossing (flow);

  -- A job that stands or is owned, once for each of its keys. claimed is absent while it stands.
  CREATE TABLE slot (
    key INTEGER NOT NULL,
    job INTEGER NOT NULL,
    flow INTEGER NOT NULL,
    let_in INTEGER NOT NULL,
    claimed INTEGER,
    PRIMARY KEY (key, job)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX slot_job ON slot (job);
  CREATE INDEX slot_standing ON slot (let_in) WHERE claimed IS NULL;

  -- Claims whose slots are free again and whose rate still counts them: how many of a millisecond.
  CREATE TABLE pace (
    key INTEGER NOT NULL,
    claimed INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    PRIMARY KEY (key, claimed)
  ) STRICT, WITHOUT ROWID;

  -- Since when nothing of a priority was let in at a place where something of it waits.
  CREATE TABLE hunger (
    place TEXT NOT NULL,
    priority INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (place, priority)
  ) STRICT, WITHOUT ROWID;

  -- Of a job that was let in: its flow, which its lane says while it is held (hall/lanes.ts), and by which ready_at it was. Its own
  -- ready_at is when it was let in: by their own times those of a flow with few would stand behind one with many for ever.
  ALTER TABLE ready ADD COLUMN flow INTEGER;
  ALTER TABLE ready ADD COLUMN held_at INTEGER;
  `,
  `
  -- Since when it waits to be judged, or until when it is handed out to somebody who does. What nobody has touched since it was
  -- enqueued, and could not be claimed, does.
  ALTER TABLE rest ADD COLUMN judge INTEGER;
  UPDATE rest SET judge = 0 WHERE rev = 1;
  CREATE INDEX rest_judge ON rest (judge) WHERE judge IS NOT NULL;
  `,
  `
  -- Who is the last to wait at a place on one account.
  CREATE INDEX flow_account ON flow (waits_at, priority, weighed_by, pass) WHERE waits_at IS NOT NULL;
  `,
]
