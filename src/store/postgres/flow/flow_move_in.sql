-- Moves held jobs into the let-in lane of their flow, if they are still held and ready, and gives each a slot of every key it has.
-- Flows of those that are not, or that somebody has locked, are to be looked at again at once. Answers with how many were moved. JSON
-- keys: i job, f flow.
-- Caller: `flow_apply`, under whose planner switches it runs. Index: ready_id, flow's primary key. Locks: the rows of `ready`, SKIP LOCKED.
create or replace function pawl.flow_move_in(items json, started bigint) returns int language plpgsql as $$
declare
  jobs bigint[]; flows int[]; lanes int[];
begin
  select array_agg(h.i), array_agg(h.f), array_agg(h.lane) into jobs, flows, lanes from (
    select x.i, x.f, f.lane from json_to_recordset(items) as x(i bigint, f int)
    cross join lateral (select f.lane from pawl.flow f where f.id = x.f limit 1) f
    cross join lateral (select from pawl.ready r where r.id = x.i and r.lane = -x.f and r.ready_at <= started limit 1 for update skip locked) r
  ) as h;
  update pawl.ready r set lane = lanes[array_position(jobs, r.id)] + {{lane.letIn}}, ready_at = started, held_at = r.ready_at
  where r.id = any(jobs);
  insert into pawl.slot (key, job, flow, let_in) select unnest(f.keys), u.job, u.flow, started from unnest(jobs, flows) as u(job, flow)
  cross join lateral (select f.keys from pawl.flow f where f.id = u.flow limit 1) f;
  if coalesce(cardinality(jobs), 0) < json_array_length(items) then
    update pawl.flow f set next_at = started where f.id = any(array(
      select x.f from json_to_recordset(items) as x(i bigint, f int) where x.i <> all(coalesce(jobs, '{}'))));
  end if;
  return coalesce(cardinality(jobs), 0);
end $$;
