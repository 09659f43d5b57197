-- What happened in a span of time: jobs born here, claims made (`claimed_between`), commits written (`led_between`,
-- `committed_between`); each with its job, its time, and the revision of the commit that tells of it (0: none does yet; null: none,
-- or another source does). `row_limit` of them at most; who gets as many asks for a shorter span. Of a single moment they come in
-- order of the jobs, from one on.
-- Caller: `by-type.ts`. Index: job_created, and nothing else may be walked. Locks: none.
create or replace function pawl.born_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language plpgsql stable rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan as $$
begin
  if to_ms - from_ms > 1 then
    return query select j.id, j.created_at, 1 from job j where j.created_at >= from_ms and j.created_at < to_ms limit row_limit;
  else
    return query select j.id, j.created_at, 1 from job j where j.created_at = from_ms and j.id >= first_job order by j.id limit row_limit;
  end if;
end $$;
