-- What the log is folded into: an image of the server's keys, for loading, and what reports read.

-- A row per piece of a key (store/ledger/image.ts). `key` and `place` are what a key and a piece in it are known by, however long their
-- names are: half of a SHA-256 each; the place of a line is its number, so that lines are read in their order.
-- `kind`: 0 text, 1 field, 2 member, 3 scored member, 4 line.
create table pawl.image (
  p int not null,
  key uuid not null,
  place uuid not null,
  kind "char" not null check (kind in ('0', '1', '2', '3', '4')),
  key_name text not null,
  name text not null,
  value text not null,
  score double precision,
  until bigint,
  primary key (p, key, place),
  check ((kind = '3') = (score is not null) and (until is null or kind = '0'))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000);
create index image_score on pawl.image (p, key, score) where score is not null;
create index image_until on pawl.image (p, until) where until is not null;

-- A row per job, as the views show it. `bodies`: the key of its bodies, where one of those is shown and has a place of its own.
create table pawl.job (
  p int not null,
  id bigint not null check (id > 0),
  tenant text not null,
  queue text not null,
  type text not null,
  state "char" not null,
  generation int not null,
  attempt bigint not null,
  rev int not null,
  priority int not null,
  created_at bigint not null,
  ready_at bigint,
  worker text,
  lease_expires_at bigint,
  claimed_at bigint,
  ended_at bigint,
  correlation text,
  input text,
  output text,
  bodies uuid,
  primary key (p, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 20000);
create index job_created on pawl.job using brin (created_at) with (pages_per_range = 32);

-- A row per commit after the first: the letters of its events, and when the claim was that it tells.
create table pawl.past (
  p int not null,
  job bigint not null,
  rev int not null,
  at bigint not null,
  claimed_at bigint,
  letters text not null,
  primary key (p, job, rev)
);
create index past_at on pawl.past using brin (at) with (pages_per_range = 32);
