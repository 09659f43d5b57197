-- Frees the slots of jobs that have left their lane or their lease: what a rate still counts of them stays, and somebody is to look at
-- their keys (by their numbers, negative: nothing else is to be done about them, and where nobody waits not even that, `flow_sweep`).
-- Locks nothing that others share, for it may be in a transaction of a caller's. Answers with those of the keys at which somebody waits.
-- Caller: `flow_free`, `flow_settle`, under whose planner switches it runs. Index: slot_job, flow_key's primary key, flow_waits. Locks: the jobs' slots.
create or replace function pawl.flow_vacate(jobs bigint[], started bigint) returns int[] language plpgsql as $$
declare
  keys int[];
begin
  with freed as (
    delete from pawl.slot s where s.job = any(jobs) returning s.key, s.claimed
  ), paced as (
    insert into pawl.pace (key, claimed) select f.key, f.claimed from freed f
    cross join lateral (select from pawl.flow_key k where k.id = f.key and k.rate_ms > 0 and f.claimed > started - k.rate_ms limit 1) k
  )
  select array_agg(distinct f.key) into keys from freed f;
  insert into pawl.arrival (key) select -u.key from unnest(keys) as u(key);
  return array(select u.key from unnest(keys) as u(key) where exists (select from pawl.flow w where w.waits_at = 'key ' || u.key));
end $$;
