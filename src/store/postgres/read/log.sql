-- The log of a job after a revision, from the commit that has the next one on.
-- Caller: `by-correlation.ts`, `logs.ts`. Index: past's primary key. Locks: none.
create or replace function pawl.log(job_id bigint, after_rev int, row_limit int) returns setof pawl.stretch
language sql stable rows 10 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select s.* from stretch s where s.job = job_id and s.rev > after_rev and s.from_rev >= coalesce((
    select p.from_rev from past p where p.job = job_id and p.from_rev <= after_rev order by p.job, p.from_rev desc limit 1), 0)
  order by s.job, s.from_rev limit row_limit
$$;
