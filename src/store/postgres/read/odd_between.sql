-- Commits that are not a plain success, in order of their times (`born_between`).
-- Caller: `by-type.ts`. Index: past_odd. Locks: none.
create or replace function pawl.odd_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language sql stable rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select p.job, p.at, p.rev from past p
  where not p.plain and p.at >= from_ms and p.at < to_ms and (to_ms - from_ms > 1 or p.job >= first_job)
  order by p.at, p.job limit row_limit
$$;
