-- Removes all texts beside jobs that have moved so: inputs, outputs and other bodies. The sum of an input goes with it.
-- Caller: `move`, under whose planner switches it runs. Index: the primary keys of job, past and body. Locks: the rows that it changes, of jobs the caller has.
create or replace function pawl.strip(ids bigint[]) returns void language plpgsql as $$
declare
  each bigint;
begin
  -- One by one: nobody can tell how long a list is, and it is never long.
  foreach each in array ids loop
    update pawl.job j set input = null, sum = null where j.id = each;
    update pawl.past p set output = null where p.job = each and p.output is not null;
    delete from pawl.body b where b.job = each;
  end loop;
end $$;
