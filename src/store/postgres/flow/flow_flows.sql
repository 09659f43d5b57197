-- Flows as lists: number, version, lane, priority, keys, weight, pass, where it waits, when it is looked at again; its first jobs, up
-- to `heads`, and when they are ready; of its queue or side the tenant, the name, the need, whether it is paused, and the queue's number; how many stand in
-- its let-in lane; its weigher.
-- Caller: `flow_look`, under whose planner switches it runs. Index: flow's and queue's primary keys, flow_key's tenant and key, ready's primary key. Locks: none.
create or replace function pawl.flow_flows(ids int[], heads int) returns json language plpgsql stable as $$
declare
  lanes int[]; standing bigint[];
begin
  -- What is the same for all flows of a lane is counted once: most wait in few.
  select array_agg(l.lane), array_agg((
           select count(*) from (select from pawl.ready r where r.lane = l.lane + {{lane.letIn}} limit {{flow.window}}) as r)) into lanes, standing
  from (select distinct f.lane from unnest(ids) as i(id) cross join lateral (select f.lane from pawl.flow f where f.id = i.id limit 1) f) as l;
  return (
    select json_agg(json_build_array(f.id, f.version, f.lane, f.priority, f.keys,
      coalesce((select k.weight from pawl.flow_key k where k.tenant = f.tenant and k.key = f.weigher), 1), f.pass, f.waits_at, f.next_at, h.jobs, h.times,
      q.tenant, q.name, q.needs, q.paused, coalesce(q.main, q.id), standing[array_position(lanes, f.lane)], f.weigher))
    from unnest(ids) as i(id) cross join lateral (select f.* from pawl.flow f where f.id = i.id limit 1) f
    cross join lateral (select q.* from pawl.queue q where q.id = f.lane / {{lane.width}} limit 1) q
    cross join lateral (
      select array_agg(r.id) as jobs, array_agg(r.ready_at) as times from (
        select r.id, r.ready_at from pawl.ready r where r.lane = -f.id order by r.lane, r.ready_at, r.id
        limit heads) as r) h);
end $$;
