-- What a ticker is to look at, whichever process wrote it down: arrivals, the oldest first; keys and flows whose time has come; lanes at which flows
-- wait, since a claim tells nobody that it made room there; and keys of jobs that have stood for long while others wait for them.
-- Caller: `flow_look`, under whose planner switches it runs. Index: arrival's primary key, flow_key_wake, flow_next, flow_waits,
-- slot_standing. Locks: none.
create or replace function pawl.flow_due(started bigint, most int,
  out seen bigint[], out keys int[], out flows int[], out lanes int[], out queues int[]) language plpgsql stable as $$
begin
  select array_agg(a.id), array_agg(a.key) filter (where a.key is not null), array_agg(a.flow) filter (where a.flow is not null),
         array_agg(a.queue) filter (where a.queue is not null)
    into seen, keys, flows, queues from (select a.* from pawl.arrival a order by a.id limit most) as a;
  keys := keys || array(select k.id from pawl.flow_key k where k.wake_at <= started order by k.wake_at limit most)
    || array(select s.key from (select s.key from pawl.slot s where s.claimed is null and s.let_in <= started - {{flow.patienceMs}}
                                order by s.let_in limit 10 * most) as s
             cross join lateral (select from pawl.flow f where f.waits_at = 'key ' || s.key limit 1) as f limit most);
  flows := flows || array(select f.id from pawl.flow f where f.next_at <= started order by f.next_at limit most);
  lanes := array(
    with recursive waited as (
      (select f.waits_at, 1 as n from pawl.flow f where f.waits_at > 'lane ' and f.waits_at < 'lane!' order by f.waits_at limit 1)
      union all
      select f.waits_at, w.n + 1 from waited w cross join lateral (
        select f.waits_at from pawl.flow f where f.waits_at > w.waits_at and f.waits_at < 'lane!' order by f.waits_at limit 1) f
      where w.n < most
    )
    select substr(w.waits_at, 6)::int from waited w);
end $$;
