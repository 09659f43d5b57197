-- Takes ended jobs out of the bundles they were claimed in. Without their rows in `past` they would look as if they were owned.
-- Caller: `purge`. Index: claim_bundle. Locks: those of `loosen_from`, bundle by bundle in their order.
create or replace function pawl.leave_bundles(ids bigint[]) returns void
language sql set search_path = pawl, pg_temp as $$
  -- As in `loosen`: put in order after they were found.
  with near as materialized (
    select c.id, c.jobs from claim c where c.low is not null and c.jobs && ids
      and c.low <= (select max(u) from unnest(ids) as u) and c.high >= (select min(u) from unnest(ids) as u)
  )
  select loosen_from(c.id, array(select unnest(c.jobs) intersect select unnest(ids))) from (select * from near order by id) as c
$$;
