-- Takes the leases of jobs away. Answers with those that had one, in their order, and with what their leases said; not with those of
-- which heartbeats are to be told.
-- Caller: `put_back`, under whose planner switches it runs. Index: lease's primary key. Locks: the leases, in the order of the jobs.
create or replace function pawl.let_go(ids bigint[],
  out jobs bigint[], out claims bigint[], out revs int[], out from_steps bigint[], out steps bigint[]) language plpgsql as $$
begin
  with gone as (
    delete from pawl.lease l where l.id = any(ids) and l.beat is null returning l.id, l.claim, l.rev, l.from_step, l.step
  )
  select array_agg(g.id), array_agg(case when g.claim > 0 then g.claim end), array_agg(g.rev),
         array_agg(case when g.claim > 0 then coalesce(g.from_step, {{step.enqueued}}) else g.step end), array_agg(g.step)
    into jobs, claims, revs, from_steps, steps
  from (select * from gone order by id) as g;
end $$;
