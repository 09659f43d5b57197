-- When the first job of these lanes can be claimed that cannot be yet: no hint will tell of it, for that was told when it came. Null: there is none.
-- Caller: `claims.ts`, in one statement with a claim that is parked. Index: ready's primary key, lane by lane. Locks: none.
create or replace function pawl.next_ready(lanes int[], after_ms bigint) returns bigint
language plpgsql volatile set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select min(r.ready_at) from unnest(lanes) as a(lane)
    cross join lateral (
      select r.ready_at from ready r where r.lane = a.lane and r.ready_at > after_ms order by r.lane, r.ready_at limit 1
    ) r
  );
end $$;
