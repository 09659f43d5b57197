-- Gives up keys of jobs that have moved, those that are still theirs; each job's as a list with the JSON keys p purpose, k key.
-- Caller: `move_sets`, under whose planner switches it runs. Index: key's primary key. Locks: the keys' rows, in the order of the jobs.
create or replace function pawl.give_keys(jobs bigint[], tenants text[], lists json[]) returns void language plpgsql as $$
declare
  given record;
begin
  -- One after the other, each by its key: joined to the table, the list might be what is looked into.
  for given in select u.job, u.tenant, y.p as purpose, y.k as key from unnest(jobs, tenants, lists) as u(job, tenant, list)
      cross join lateral json_to_recordset(u.list) as y(p text, k text) loop
    delete from pawl.key k where k.tenant = given.tenant and k.purpose = given.purpose and k.key = given.key and k.job = given.job;
  end loop;
end $$;
