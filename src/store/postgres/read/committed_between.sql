-- Commits written in a span of time (`born_between`).
-- Caller: `by-type.ts`. Index: past_at, and nothing else may be walked. Locks: none.
create or replace function pawl.committed_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language plpgsql stable rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan as $$
begin
  if to_ms - from_ms > 1 then
    return query select p.job, p.at, p.rev from past p where p.at >= from_ms and p.at < to_ms limit row_limit;
  else
    return query select p.job, p.at, p.rev from past p where p.at = from_ms and p.job >= first_job order by p.job, p.rev limit row_limit;
  end if;
end $$;
