-- Jobs claimed many at a time have no leases of their own until somebody needs one (schema/0001_tables.sql, `claim`).
--
-- Jobs that are owned without a lease of their own.
create or replace view pawl.bundled as
select u.id, c.id as claim, c.at from pawl.claim c cross join lateral unnest(c.jobs) as u(id)
where c.low is not null and (c.loose is null or u.id <> all(c.loose))
  and not exists (select from pawl.past p where p.job = u.id);
