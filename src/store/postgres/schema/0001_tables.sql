-- The tables. A job is written once (`job`); while it lives it has exactly one small row in exactly one of `ready`,
-- `lease`, `rest`; what is over is in `past`, which only grows. Moving the row is the transition. Only jobs claimed many
-- at a time have none while nothing but their end is heard of them: their claim has their numbers (`claim`).
--
-- Times are epoch milliseconds. A `step` is the forward-only triple as one number: generation * 2^36 + attempt * 2^4 +
-- rank of the state (core/job.ts). A `doc` is the record as the codec writes it; absent, the record is the fold of the
-- events that stand beside it. Letters are those of store/codec/codes.ts.

-- The store's clock (`pawl.clock`). `seen`: a time that it has shown, a second ago or so; `lead`: by how much it is ahead of
-- the server's, which was set back. Sequences, because a sequence is one number in one place: whoever reads it sees what was
-- written last, in no snapshot, and nothing is left behind that a snapshot held elsewhere would keep.
create sequence pawl.seen minvalue 0;
create sequence pawl.lead minvalue 0;
select setval('pawl.seen', 0), setval('pawl.lead', 0);

-- Texts a user may choose are known to indexes by `hash` or by a key that is a hash where they are long. With `main` and
-- `needs`: the side of a queue, where jobs stand that need something; it has its queue's names and is paused with it.
create table pawl.queue (
  id int generated always as identity primary key,
  hash text not null unique,
  tenant text not null,
  name text not null,
  paused boolean not null default false,
  main int references pawl.queue,
  needs text,
  check ((main is null) = (needs is null))
);
create index queue_tenant on pawl.queue (md5(tenant));
create index queue_name on pawl.queue (md5(name));
create index queue_side on pawl.queue (main, id) where main is not null;

-- Everything a job shares with its siblings. Content-addressed by `hash`, immutable.
create table pawl.kind (
  id int generated always as identity primary key,
  hash text not null unique,
  queue int not null references pawl.queue,
  type text not null,
  window_ms bigint not null check (window_ms > 0),
  policy text not null
);
create index kind_queue on pawl.kind (queue, md5(type));

-- The row is the `enqueued` event. `lane` is queue * 10 + the priority it was born with. `correlation` and `marks`: what it
-- can be looked for by, as hashes with the tenant in them (codec/marks.ts): among what is one tenant's own there is nothing
-- of others.
create table pawl.job (
  id bigint primary key check (id > 0),
  created_at bigint not null,
  kind int not null,
  lane int not null,
  -- Of the input, as it was written (`pawl.sum_of`): 4 bytes and 0.1 µs, so that `verify` sees that somebody changed it.
  sum int,
  input text,
  head text,
  correlation text,
  marks text[]
);
create index job_created on pawl.job using brin (created_at) with (pages_per_range = 32);
create index job_correlation on pawl.job (correlation, id) where correlation is not null;

-- The marks of jobs, in the order in which they are shown. (An index of lists has no order: a page of one would read all
-- that share a label.)
create table pawl.mark (
  mark text not null,
  job bigint not null,
  primary key (mark, job)
);

-- Of tables that are empty most of the time nothing is cut off: giving the pages back needs a lock that all wait for.

-- Claimable at `ready_at`, in a lane of its queue or, where it needs something, of that side. Absent rev and step: untouched since it was enqueued. The kind, its lease (`window_ms`) and
-- the length of the input (of untouched jobs) are here so that a claim need not look them up before it answers. `careful`: will
-- be on its lease.
create table pawl.ready (
  id bigint not null,
  ready_at bigint not null,
  lane int not null,
  window_ms int not null check (window_ms > 0),
  kind int not null,
  bytes int,
  rev int,
  step bigint check (step & 15 in (5, 6, 7)),
  careful boolean check (careful),
  tick bigint,
  doc text,
  primary key (lane, ready_at, id),
  check ((doc is null) = (step is null) and (doc is null) = (rev is null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000, vacuum_truncate = off);
-- For whoever looks a job up, and for pages of all that is queued in the order of their numbers. 0.7 µs and 67 B of log
-- per enqueue; without it such a page would sort the whole backlog.
create unique index ready_id on pawl.ready (id);
create index ready_tick on pawl.ready (tick) where tick is not null;
create index ready_state on pawl.ready (substr(doc, 7, 1), id) where doc is not null;

-- Owned. `claim` > 0: the claim's event is not in `past` yet and `doc` is the record before it; < 0: it is, and `doc`
-- is the record. `from_step`: where the job stood before the claim; absent: as it was enqueued. `tick`: the first of its clocks besides the lease's end; `again`: it was handed out and is not before
-- then. `beat`: how many heartbeats there were (n), the request of the last (id), and the runs that are not in `past` yet
-- (p: count, first at, last at, request, lease end). `careful`: of those core decides (`isMereRenewal`), and none is in here.
-- No index but the primary key, and room on each page: heartbeats stay heap-only.
create table pawl.lease (
  id bigint primary key,
  claim bigint not null check (claim <> 0),
  expires_at bigint not null,
  rev int not null,
  step bigint not null check (step & 15 in (1, 2)),
  from_step bigint,
  careful boolean check (careful),
  tick bigint,
  again bigint,
  doc text,
  beat jsonb,
  check (claim > 0 or doc is not null)
) with (fillfactor = 70,
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000, vacuum_truncate = off);

-- Neither claimable nor owned: pending, waiting, parked, stalled for good.
create table pawl.rest (
  id bigint primary key,
  rev int,
  step bigint check (step & 15 in (0, 3, 4, 5)),
  tick bigint,
  doc text,
  check ((doc is null) = (step is null) and (doc is null) = (rev is null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index rest_tick on pawl.rest (tick) where tick is not null;
create index rest_state on pawl.rest (coalesce(substr(doc, 7, 1), 'n'), id);

-- History: one row per commit after the first, `rev` that of its last event. `claim`: the claim's event comes first;
-- `beats`: then runs of heartbeats. `state`: the job ended here (for this generation).
create table pawl.past (
  job bigint not null,
  at bigint not null,
  claim bigint,
  from_step bigint not null,
  to_step bigint not null,
  rev int not null,
  from_rev int not null,
  state "char",
  plain boolean not null,
  events text not null,
  output text,
  doc text,
  beats jsonb,
  -- Nothing is continued twice: of two commits that follow the same one, the second fails.
  primary key (job, from_rev),
  -- Four checks cost 0.2 µs a row; as one expression they cost the same.
  -- Forward only; equal where nothing but observations happened.
  constraint forward_only check (to_step >= from_step and rev > from_rev),
  -- What has ended stays so within its generation; only a claim counts the attempt up.
  constraint ended_is_ended check (from_step & 15 <> 8 or to_step >> 36 > from_step >> 36 or to_step = from_step),
  constraint ended_has_state check ((to_step & 15 = 8) = (state is not null)),
  -- claim > 0: that claim's event comes before those in the text; < 0: it is among them.
  constraint attempt_by_claim check (
    coalesce(claim, 0) < 0 or (to_step >> 4) & 4294967295 = ((from_step >> 4) & 4294967295) + (case when claim is null then 0 else 1 end)
  )
) with (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 200000);
create index past_at on pawl.past using brin (at) with (pages_per_range = 32);
create index past_odd on pawl.past (at, job) where not plain;
-- Ends with a long log (core/compact.ts), for whoever shortens them. Most logs are short, and cost nothing here.
create index past_long on pawl.past (at, job) where state is not null and rev >= 20;
create index past_state on pawl.past (state, job) where state <> 'S';

-- In which rows of `past` requests are told of, by hash: a word that is said again is found by it. Ends are not in it: they
-- are nearly all there is to write, and an ended job has its end at hand. 0: an end that was left again; it is looked at,
-- whichever request is looked for.
create table pawl.asked (
  job bigint not null,
  request bigint not null,
  from_rev int not null,
  primary key (job, request, from_rev)
);

-- One row per claim call that got something: what its jobs have in common. Lives as long as any of them (`refs`) or its
-- entry. `request` is a hash where the words are long.
-- A bundle (`low` and `high` are there, its least and greatest job): its jobs were untouched and have no clock but their
-- lease, and no lease of their own unless they are `loose`; those neither loose nor in `past` are owned until `at` and their kind's window. `open`: how
-- many those are at most. A lease written and deleted for each was a third of what claiming and ending it costs. Whoever
-- ends jobs of a bundle shares its advisory lock, whoever gives one a lease (`pawl.loosen`) has it alone.
create table pawl.claim (
  id bigint generated always as identity primary key,
  request text not null unique,
  request_words text,
  worker text not null,
  actor text not null,
  nonce text not null,
  at bigint not null,
  tick bigint,
  refs int not null,
  jobs bigint[] not null,
  low bigint,
  high bigint,
  open int check (open > 0),
  loose bigint[],
  check ((low is null) = (open is null) and (low is null) = (high is null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index claim_bundle on pawl.claim (low, high) where low is not null;
create index claim_tick on pawl.claim (tick) where tick is not null;
create index claim_at on pawl.claim (at);

-- Claims that found nothing and wait: whoever enqueues something for one of them answers it (`pawl.offer`). Parked until `until`,
-- and as long as its process listens on `channel`, which is known to nobody else. Nothing is lost with it, so it is not
-- logged: parking costs no flush, and a server that crashed begins without. Its numbers are logged all the same, one flush
-- in 32: the sequence of an unlogged table would be unlogged too, and no server from 15 to 18 can read such a sequence after
-- it was a standby and was promoted ("bad magic number"), so that no claim could be parked any more after a failover.
create sequence pawl.parked_number;
create unlogged table pawl.parked (
  id bigint primary key default nextval('pawl.parked_number'),
  request text not null unique,
  request_words text,
  worker text not null,
  actor text not null,
  nonce text not null,
  lanes int[] not null,
  wanted int not null,
  max_bytes bigint not null,
  until bigint not null,
  channel text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

-- The feed: one row per commit. Arrays of one element stand for all jobs. `shapes`: state before, letters of the events,
-- state after. `void`: jobs of the batch that were not applied. Of a claim, the jobs are in `claim`.
create table pawl.entry (
  id bigint generated always as identity primary key,
  pos bigint,
  at bigint not null,
  claim bigint,
  jobs bigint[] not null,
  revs int[] not null,
  kinds int[] not null,
  shapes text[] not null,
  void bigint[]
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- Compressing the arrays saved 3 bytes and cost 1 µs per job.
alter table pawl.entry alter jobs set storage external;
alter table pawl.claim alter jobs set storage external;
create index entry_unplaced on pawl.entry (id) where pos is null;
create unique index entry_pos on pawl.entry (pos) where pos is not null;
create index entry_at on pawl.entry (at);
create index entry_claim on pawl.entry (claim) where claim is not null;

create table pawl.tally (
  kind int not null,
  state "char" not null,
  count bigint not null,
  primary key (kind, state)
);

create table pawl.feed (
  single boolean primary key default true check (single),
  pos bigint not null,
  trimmed bigint not null,
  purged bigint not null
);
insert into pawl.feed (pos, trimmed, purged) values (0, 0, 0);

-- (tenant, purpose, key) → job. `until` absent: until the holder gives it up.
create table pawl.key (
  tenant text not null,
  purpose text not null,
  key text not null,
  job bigint not null,
  until bigint,
  primary key (tenant, purpose, key)
);
create index key_job on pawl.key (job);

-- What users supplied besides input and output. `key` is the name, or its hash where it is long and `name` has the words.
create table pawl.body (
  job bigint not null,
  key text not null,
  name text,
  text text not null,
  primary key (job, key)
);

-- Events whose correlation is not their job's, by its mark.
create table pawl.link (
  correlation text not null,
  job bigint not null,
  rev int not null,
  primary key (correlation, job, rev)
);
create index link_job on pawl.link (job);

create table pawl.annotation (
  job bigint not null,
  generation int not null,
  attempt int not null,
  command text not null,
  at bigint not null,
  actor text not null,
  request text not null,
  correlation text not null,
  outcome text,
  primary key (job, generation, attempt, command)
);

create table pawl.setting (
  collection text not null,
  key text collate "C" not null,
  name text,
  text text not null,
  rev bigint not null check (rev > 0),
  updated_at bigint not null,
  primary key (collection, key)
);
