-- Which of these jobs are a tenant's.
-- Caller: `by-type.ts`. Index: job's and queue's primary keys. Locks: none.
create or replace function pawl.jobs_of(tenant_name text, ids bigint[]) returns setof bigint
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select j.id from unnest(ids) as u(id) join job j on j.id = u.id join queue q on q.id = j.lane / {{lane.width}} where q.tenant = tenant_name
$$;
