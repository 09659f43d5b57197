-- Locks where jobs have ended, and answers with those that are still there: neither reopened nor told of again.
-- Caller: `move`, under whose planner switches it runs. Index: past's primary key, from the end of each job; the keys of every place.
-- Locks: the jobs' last rows of history, in the order given, which is that of the jobs.
create or replace function pawl.hold_ended(ids bigint[], revs int[]) returns bigint[] language plpgsql as $$
begin
  perform p.job from unnest(ids, revs) as u(id, rev) cross join lateral (
    select p.job from pawl.past p where p.job = u.id and p.rev = u.rev and p.from_rev < u.rev
    order by p.job, p.from_rev desc limit 1 for update
  ) p;
  -- In a statement of its own: what the transaction that held a lock has done must be seen. Each is looked up by itself: a plan made
  -- while the tables were empty would walk them.
  return array(
    select u.id from unnest(ids, revs) as u(id, rev)
    cross join lateral (select p.rev from pawl.past p where p.job = u.id order by p.job, p.from_rev desc limit 1) p
    left join lateral (select r.id from pawl.ready r where r.id = u.id limit 1) r on true
    left join lateral (select l.id from pawl.lease l where l.id = u.id limit 1) l on true
    left join lateral (select s.id from pawl.rest s where s.id = u.id limit 1) s on true
    where p.rev = u.rev and r.id is null and l.id is null and s.id is null);
end $$;
