-- Jobs that had ended before a time and have not left the server, those first that ended first: so many at most.
-- Caller: `postgres-ledger.ts`. Index: job_ended. Locks: none.
create or replace function pawl.ended(of int, before_at bigint, most int) returns table (id bigint, rev int)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select j.id, j.rev from job j where j.p = of and j.ended_at is not null and not j.evicted and j.ended_at < before_at order by j.ended_at limit most
$$;
