-- Moves jobs that stand, and that nobody has claimed or locked, back to where they were held, with the time they had, and frees their
-- slots: keys and flows are to be looked at again, but for a flow that gives way to others, which waits nowhere until then
-- (`afterGivingWay` of core/flow/take-back.ts). Answers with those keys. JSON
-- keys: i job, f flow, n when it is looked at, where it gives way.
-- Caller: `flow_apply`, under whose planner switches it runs. Index: ready_id, slot_job, flow's primary key. Locks: the rows of `ready`, SKIP LOCKED;
-- the jobs' slots; flows that give way.
create or replace function pawl.flow_take_back(items json) returns int[] language plpgsql as $$
declare
  jobs bigint[]; flows int[]; nexts bigint[]; keys int[];
begin
  select array_agg(s.i), array_agg(s.f), array_agg(s.n) into jobs, flows, nexts from (
    select x.i, x.f, x.n from json_to_recordset(items) as x(i bigint, f int, n bigint)
    cross join lateral (select f.lane from pawl.flow f where f.id = x.f limit 1) f
    cross join lateral (select from pawl.ready r where r.id = x.i and r.lane = f.lane + {{lane.letIn}} limit 1 for update skip locked) r
  ) as s;
  update pawl.ready r set lane = -flows[array_position(jobs, r.id)], ready_at = coalesce(r.held_at, r.ready_at), held_at = null
  where r.id = any(jobs);
  with freed as (delete from pawl.slot s where s.job = any(jobs) returning s.key)
  select array_agg(distinct f.key) into keys from freed f;
  insert into pawl.arrival (key, flow) select unnest(keys), null
  union all select distinct null::int, u.flow from unnest(flows, nexts) as u(flow, next) where u.next is null;
  update pawl.flow f set waits_at = null, next_at = g.next, version = f.version + 1
  from (select u.flow, max(u.next) as next from unnest(flows, nexts) as u(flow, next) where u.next is not null group by 1) as g
  where f.id = g.flow;
  return keys;
end $$;
