-- Flow: what lets in jobs that share a key, and when (core/flow). A held job stands in `ready` like any other, in a lane that is its
-- flow's own and that no claim asks for: the flow's number, negative. Let in, its row moves to the let-in lane beside the lane of
-- its queue and priority, a thousand million further on. So a held job is looked up, searched for, ticked and moved as any other.
--
-- Whatever makes room or brings a job only adds rows (`arrival`, `pace`, `spend`) and takes away its own (`slot`): it locks nothing
-- that others share, not in a caller's transaction either. Rounds (flow/rounds.ts) look at what has come, let core judge, and apply
-- that, if the keys and flows they looked at are at the versions they had.

-- A key: (tenant, key), which is a hash of `name` where that is long. `gate`, as core has it, is looked into by no statement; beside it
-- is what counting needs of it: since when slots count (`since`), for how long a rate counts (`rate_ms`; 0: there is none), how
-- long a budget lasts (`per_ms`; 0: there is none), and the weight of those who take turns under its name. `text` and `log` are the engine's, at revision `rev`; 0: nobody has
-- said anything about the key yet. `spent`: of the budget, in the window of that number, but for what is in `spend`. `wake_at`:
-- somebody must look then. `version` counts rounds and changes of the gate.
create table pawl.flow_key (
  id int generated always as identity primary key,
  tenant text not null,
  key text collate "C" not null,
  name text,
  gate text not null,
  since bigint not null,
  rate_ms bigint not null,
  per_ms bigint not null,
  weight double precision not null check (weight > 0),
  text text not null,
  log text,
  rev int not null,
  spent numeric not null default 0,
  spent_in bigint not null default 0,
  wake_at bigint,
  version bigint not null default 0,
  unique (tenant, key)
);
create index flow_key_wake on pawl.flow_key (wake_at) where wake_at is not null;

-- What waits as one. `lane`: of the queue, or its side, that its jobs are for. `keys` in the order in which they were declared;
-- `weigher`: the key, by its tenant and name, whose weight it has. `waits_at`: a place as core writes it, with numbers for names.
create table pawl.flow (
  id int generated always as identity primary key,
  hash text not null unique,
  lane int not null,
  priority int not null,
  keys int[] not null,
  tenant text not null,
  weigher text collate "C" not null,
  pass double precision not null default 0,
  waits_at text collate "C",
  next_at bigint,
  version bigint not null default 0
);
create index flow_waits on pawl.flow (waits_at, priority, pass, id) where waits_at is not null;
-- Without a list of what is new, which each look would walk.
create index flow_keys on pawl.flow using gin (keys) with (fastupdate = off);
create index flow_next on pawl.flow (next_at) where next_at is not null;

-- Of a job that was let in: when it was ready, which is its place should it be taken back. Its `ready_at` is when it was let in, because
-- let-in lanes are in that order: by their own times a flow with few jobs would stand behind one with many for ever.
alter table pawl.ready add column held_at bigint;

-- Of every job that stands in a let-in lane or is owned, one for each of its keys. `claimed` absent: it stands.
create table pawl.slot (
  key int not null,
  job bigint not null,
  flow int not null,
  let_in bigint not null,
  claimed bigint,
  primary key (key, job)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index slot_job on pawl.slot (job);
create index slot_standing on pawl.slot (let_in) where claimed is null;

-- When jobs were claimed whose slots are free again, for as long as a rate counts them.
create table pawl.pace (
  key int not null,
  claimed bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index pace_key on pawl.pace (key, claimed);

-- What was spent of a budget and is not counted in its key yet.
create table pawl.spend (
  id bigint generated always as identity primary key,
  key int not null,
  at bigint not null,
  amount numeric not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index spend_key on pawl.spend (key);

-- Whether the queue, or the side, has flows: if not, no claim looks for a let-in lane beside its lanes.
alter table pawl.queue add column limited boolean not null default false;
create index queue_limited on pawl.queue (coalesce(main, id)) where limited;

-- What somebody must look at: a flow that has a job to let in, a key that may have room, a queue that was paused or resumed. Written in
-- the commit that is the reason, removed by the round that has seen it. A flow that somebody just removed brings no job.
create table pawl.arrival (
  id bigint generated always as identity primary key,
  flow int references pawl.flow,
  key int,
  queue int,
  check (num_nonnulls(flow, key, queue) = 1)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index arrival_flow on pawl.arrival (flow) where flow is not null;
create index arrival_key on pawl.arrival (key) where key is not null;
create index arrival_queue on pawl.arrival (queue) where queue is not null;

-- Since when nothing of a priority has been let in at a place, while something waited there.
create table pawl.hunger (
  place text collate "C" not null,
  priority int not null,
  since bigint not null,
  primary key (place, priority)
);
