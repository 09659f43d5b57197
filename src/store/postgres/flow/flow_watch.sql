-- Who will look at flows, one by one as lists: when a time is set, the place where it waits, whether it, or that place, is among what has come; of a key
-- that is waited at, when somebody looks there; of a queue, whether it is paused.
-- What has come is looked up, not asked about with EXISTS: a plan made while `arrival` was empty would hash the whole table for that.
-- Caller: `views.ts`. Index: flow's, flow_key's and queue's primary keys, arrival's. Locks: none.
create or replace function pawl.flow_watch(flows int[]) returns json
language plpgsql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select json_agg(json_build_array(f.next_at, f.waits_at,
      coalesce((select true from arrival a where a.flow = u.id limit 1), (select true from arrival a where a.key = p.key limit 1),
        (select true from arrival a where a.key = -p.key limit 1), (select true from arrival a where a.queue = p.queue limit 1), false),
      k.wake_at, q.paused) order by u.n)
    from unnest(flows) with ordinality as u(id, n)
    left join lateral (select f.* from flow f where f.id = u.id limit 1) f on true
    cross join lateral (select case when f.waits_at like 'key %' then substr(f.waits_at, 5)::int end as key,
                               case when f.waits_at like 'queue %' then substr(f.waits_at, 7)::int end as queue) p
    left join lateral (select k.wake_at from flow_key k where k.id = p.key limit 1) k on true
    left join lateral (select q.paused from queue q where q.id = p.queue limit 1) q on true);
end $$;
