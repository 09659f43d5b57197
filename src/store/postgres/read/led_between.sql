-- Commits that are not a plain success and led to one of these states (the key of `past_led`), in order of their times
-- (`born_between`). State by state: one walk over several would have to sort all of them.
-- Caller: `by-type.ts`. Index: past_led. Locks: none.
create or replace function pawl.led_between(led text[], from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language sql stable rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select p.job, p.at, p.rev from unnest(led) as s(led) cross join lateral (
    select p.job, p.at, p.rev from past p
    where not p.plain and coalesce(p.state, chr(48 + (p.to_step & {{mask.rank}})::int)::"char") = s.led::"char"
      and p.at >= from_ms and p.at < to_ms and (to_ms - from_ms > 1 or p.job >= first_job)
    order by p.at, p.job limit row_limit
  ) as p order by p.at, p.job limit row_limit
$$;
