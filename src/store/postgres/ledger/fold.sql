-- Writes what entries say into the tables, whole, where the fold has come to exactly this number (store/ledger/fold.ts), and forgets of
-- the log what was folded long ago, and of the image what was over then. One at a time, by a lock that nobody waits for; the account is locked
-- at the end only, so that nobody who appends waits meanwhile. A job does not go back: that would be another log than the one folded so far.
-- JSON keys: c keys cleared; r ranges (key, u up to this score, l before this place); g pieces gone (k, n place); i pieces (k, n, t kind,
-- kn, nn names, v, s score, u until); e ends (k, u); j jobs; h stretches; d purged, w rewritten jobs; x jobs that have left the server (out) or are back.
-- Caller: `postgres-ledger.ts`. Index: the primary keys of all its tables, image_score, image_until. Locks: the fold, then the partition.
create or replace function pawl.fold(of int, from_seq bigint, to_seq bigint, now_at bigint, keep_ms bigint, changes json)
returns table (done boolean, now_epoch bigint, now_seq bigint, now_name text, now_at_ms bigint, now_folded bigint, now_kept_from bigint)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '1s' set jit = off set enable_seqscan = off as $$
declare
  gone_back bigint;
  kept bigint;
begin
  done := pg_try_advisory_xact_lock(hashtextextended('pawl fold ' || 'image'::regclass::oid::text, of))
    and exists (select from part a where a.p = of and a.folded = from_seq and a.seq >= to_seq);
  if not done then
    return query select false, a.* from account(of) as a;
    return;
  end if;

  delete from image i using json_array_elements_text(changes -> 'c') as x(k) where i.p = of and i.key = x.k::uuid;
  delete from image i using json_to_recordset(changes -> 'r') as x(k uuid, u double precision, l uuid)
  where i.p = of and i.key = x.k and x.u is not null and i.score <= x.u;
  delete from image i using json_to_recordset(changes -> 'r') as x(k uuid, u double precision, l uuid)
  where i.p = of and i.key = x.k and x.l is not null and i.place < x.l;
  delete from image i using json_to_recordset(changes -> 'g') as x(k uuid, n uuid) where i.p = of and i.key = x.k and i.place = x.n;
  insert into image as i (p, key, place, kind, key_name, name, value, score, until)
  select of, x.k, x.n, x.t, x.kn, x.nn, x.v, x.s, x.u
  from json_to_recordset(changes -> 'i') as x(k uuid, n uuid, t "char", kn text, nn text, v text, s double precision, u bigint)
  on conflict (p, key, place) do update set kind = excluded.kind, value = excluded.value, score = excluded.score, until = excluded.until;
  update image i set until = x.u from json_to_recordset(changes -> 'e') as x(k uuid, u bigint)
  where i.p = of and i.key = x.k and i.kind = '0';
  delete from image i where i.p = of and i.until < now_at - keep_ms;

  delete from job j using json_array_elements_text(changes -> 'd') as x(id) where j.p = of and j.id = x.id::bigint;
  delete from past e using json_array_elements_text(changes -> 'w') as x(id) where e.p = of and e.job = x.id::bigint;
  select j.id into gone_back from json_to_recordset(changes -> 'j') as x(id bigint, rev int)
  join job j on j.p = of and j.id = x.id where j.rev > x.rev limit 1;
  if found then
    raise exception 'pawl: job % would go back in the fold of entries % to %', gone_back, from_seq + 1, to_seq using errcode = 'data_corrupted';
  end if;
  insert into job as j (p, id, tenant, queue, type, state, generation, attempt, rev, priority, created_at, ready_at, worker, lease_expires_at,
                        claimed_at, ended_at, correlation, input, output, bodies)
  select of, x.id, x.tenant, x.queue, x.type, x.state, x.generation, x.attempt, x.rev, x.priority, x.created, x.ready, x.worker, x.expires,
         x.claimed, x.ended, x.correlation, x.input, x.output, x.bodies
  from json_to_recordset(changes -> 'j') as x(id bigint, tenant text, queue text, type text, state "char", generation int, attempt bigint,
    rev int, priority int, created bigint, ready bigint, worker text, expires bigint, claimed bigint, ended bigint, correlation text,
    input text, output text, bodies uuid)
  -- Columns and selection correspond by place. What a birth has fixed (tenant, queue, type, correlation, created) is never written
  -- again, and a job that admission has sent elsewhere is reported under the queue it was asked for, as by the store in Postgres.
  on conflict (p, id) do update set state = excluded.state, generation = excluded.generation, attempt = excluded.attempt, rev = excluded.rev,
    priority = excluded.priority, ready_at = excluded.ready_at, worker = excluded.worker, lease_expires_at = excluded.lease_expires_at,
    claimed_at = excluded.claimed_at, ended_at = excluded.ended_at, input = excluded.input, output = excluded.output, bodies = excluded.bodies;
  update job j set evicted = x.out from json_to_recordset(changes -> 'x') as x(id bigint, out boolean) where j.p = of and j.id = x.id;
  -- What a later text of the job tells again was written with the first one.
  insert into past (p, job, rev, at, claimed_at, letters)
  select of, x.job, x.rev, x.at, x.claimed, x.letters
  from json_to_recordset(changes -> 'h') as x(job bigint, rev int, at bigint, claimed bigint, letters text)
  on conflict (p, job, rev) do nothing;

  with old as (
    delete from log l where l.p = of and l.last in (
      select f.last from log f where f.p = of and f.last <= to_seq order by f.last limit 1000
    ) and l.ats[cardinality(l.ats)] < now_at - keep_ms returning l.last
  )
  select max(o.last) + 1 into kept from old o;
  update part a set folded = to_seq, kept_from = greatest(a.kept_from, kept) where a.p = of and a.folded = from_seq;
  done := found;
  if not done then raise exception 'pawl: the fold of partition % was overtaken', of using errcode = 'serialization_failure'; end if;
  return query select true, a.* from account(of) as a;
end $$;
