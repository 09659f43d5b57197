-- Tenants that have queues.
-- Caller: `tenants.ts`. Index: queue_tenant, one look-up for each. Locks: none.
create or replace function pawl.tenants() returns setof text language sql stable rows 10 set search_path = pawl, pg_temp as $$
  with recursive t as (
    (select md5(q.tenant) as hash, q.tenant from queue q order by md5(q.tenant) limit 1)
    union all
    select n.* from t cross join lateral (
      select md5(q.tenant), q.tenant from queue q where md5(q.tenant) > t.hash order by md5(q.tenant) limit 1) n
  ) select t.tenant from t
$$;
