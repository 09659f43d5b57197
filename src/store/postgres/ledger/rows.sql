-- What reports say of jobs, in the order of their ids: so many at most after this one.
-- Caller: `postgres-ledger.ts`. Index: job's primary key. Locks: none.
create or replace function pawl.rows(of int, after_id bigint, most int)
returns table (id bigint, tenant text, queue text, type text, state text, generation int, attempt bigint, rev int, priority int, ended_at bigint)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select j.id, j.tenant, j.queue, j.type, j.state::text, j.generation, j.attempt, j.rev, j.priority, j.ended_at
  from job j where j.p = of and j.id > after_id order by j.id limit most
$$;
