-- Whether one of the first 64 lanes of a claim has a job that it could have had. Called for a claim that got less than it asked for, after
-- its own rows are gone: so it finds jobs that other statements held at that moment, and jobs that came since. Volatile, so that
-- it sees what its own statement has done.
-- Caller: `claims.ts`, in one statement with the claim. Index: ready's primary key, lane by lane; queue's primary key. Locks: none.
create or replace function pawl.is_contended(lanes int[], at_ms bigint) returns boolean
language plpgsql volatile set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return exists (
    select from unnest(lanes[1:64]) as a(lane)
    cross join lateral (select from queue q where q.id = a.lane / {{lane.width}} and not q.paused limit 1) q
    cross join lateral (
      select from ready r where r.lane = a.lane and r.ready_at <= at_ms and (r.tick is null or r.tick > at_ms) limit 1
    ) r
  );
end $$;
