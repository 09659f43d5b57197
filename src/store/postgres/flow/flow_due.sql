-- What a ticker is to look at, whichever process wrote it down: arrivals, the oldest first; keys and flows whose time has come; lanes with room at
-- which flows wait, since a claim tells nobody that it made room there; and keys of jobs that have stood for long while others wait for
-- them. Of each `most`, and none that there is nothing to do about: those would be in the way of others for as long as they are there.
-- No more can stand than the windows of lanes have room for, and that many are looked through.
-- Caller: `flow_look`, under whose planner switches it runs. Index: arrival's primary key, flow_key_wake, flow_next, flow_waits,
-- slot_standing, ready's primary key. Locks: none.
create or replace function pawl.flow_due(started bigint, most int,
  out seen bigint[], out keys int[], out flows int[], out lanes int[], out queues int[]) language plpgsql stable as $$
begin
  select array_agg(a.id), array_agg(abs(a.key)) filter (where a.key is not null), array_agg(a.flow) filter (where a.flow is not null),
         array_agg(a.queue) filter (where a.queue is not null)
    into seen, keys, flows, queues from (select a.* from pawl.arrival a order by a.id limit most) as a;
  -- With all that says the same: who comes one by one, and often, must not be in front of others as often.
  seen := seen || array(
    select a.id from (select distinct unnest(flows)) as u(flow)
    cross join lateral (select a.id from pawl.arrival a where a.flow = u.flow and a.id > seen[cardinality(seen)] limit 10 * most) a);
  keys := keys || array(select k.id from pawl.flow_key k where k.wake_at <= started order by k.wake_at limit most)
    -- By time, and not in the order that they are grouped in: that is what `order by` and `offset 0` are for.
    || array(select s.key from (select s.* from pawl.slot s where s.claimed is null and s.let_in <= started - {{flow.patienceMs}} order by s.let_in offset 0) as s
             cross join lateral (select from pawl.flow f where f.waits_at = 'key ' || s.key and f.id <> s.flow limit 1) as f
             group by s.key order by min(s.let_in) limit most);
  flows := flows || array(select f.id from pawl.flow f where f.next_at <= started order by f.next_at limit most);
  lanes := array(
    with recursive waited as (
      (select f.waits_at from pawl.flow f where f.waits_at > 'lane ' and f.waits_at < 'lane!' order by f.waits_at limit 1)
      union all
      select f.waits_at from waited w cross join lateral (
        select f.waits_at from pawl.flow f where f.waits_at > w.waits_at and f.waits_at < 'lane!' order by f.waits_at limit 1) f
    )
    select l.lane from (select substr(w.waits_at, 6)::int as lane from waited w) as l
    -- One that is as full as may be has nothing to let in, and must not be looked at in the place of one that has.
    where (select count(*) from (select from pawl.ready r where r.lane = l.lane + {{lane.letIn}} limit {{flow.window}}) as r) < {{flow.window}}
    limit most);
end $$;
