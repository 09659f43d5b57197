-- Frees the slots of jobs that have left their lane or their lease: what a rate still counts of them stays, and somebody is to look at
-- their keys (by their numbers, negative: nothing else is to be done about them, and where nobody waits not even that, `flow_sweep`), and at the flows in which some of them are held now. Locks nothing that others share, for it may be in a transaction of a caller's.
-- JSON keys: i job, f the flow it is held in, where it is.
-- Caller: `flow_left`. Index: slot_job, flow_key's primary key. Locks: the jobs' slots.
create or replace function pawl.flow_free(items json, started bigint) returns void language plpgsql
set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  with freed as (
    delete from slot s where s.job = any(array(select x.i from json_to_recordset(items) as x(i bigint))) returning s.key, s.claimed
  ), paced as (
    insert into pace (key, claimed) select f.key, f.claimed from freed f
    cross join lateral (select from flow_key k where k.id = f.key and k.rate_ms > 0 and f.claimed > started - k.rate_ms limit 1) k
  )
  insert into arrival (key, flow)
  select distinct -f.key, null::int from freed f
  union all select distinct null::int, x.f from json_to_recordset(items) as x(f int) where x.f is not null;
end $$;
