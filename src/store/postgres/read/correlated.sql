-- Jobs that have one of these correlations, in order of their numbers.
-- Caller: `by-correlation.ts`. Index: job_correlation, job's primary key. Locks: none.
create or replace function pawl.correlated(marks text[], own bigint, first_job bigint, row_limit int) returns setof bigint
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select u.id from (
    select c.id from unnest(marks) as m(mark) cross join lateral (
      select j.id from job j where j.correlation = m.mark and j.id >= first_job order by j.correlation, j.id limit row_limit) c
    union select j.id from job j where j.id = own and j.id >= first_job
  ) as u(id) order by u.id limit row_limit
$$;
