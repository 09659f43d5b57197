-- A queue was paused or resumed: where it has flows, somebody is to look at it.
-- Caller: `settings`. Index: queue's hash, queue_limited. Locks: none.
create or replace function pawl.flow_stir(queue_hash text) returns void language plpgsql set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
begin
  insert into arrival (queue) select q.id from queue q
  cross join lateral (select from queue s where coalesce(s.main, s.id) = q.id and s.limited limit 1) s where q.hash = queue_hash;
end $$;
