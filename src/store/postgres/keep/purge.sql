-- Removes ended jobs with all that is theirs, if they are still at that revision. Answers with those it removed. JSON keys: i id,
-- r rev, k kind, z state.
-- Caller: `keeping.ts`. Index: past's primary key, and the keys of everything that is a job's. Locks: the jobs' last rows of
-- history in their order, those of `leave_bundles`, their claims.
create or replace function pawl.purge(items json) returns table (now_ms bigint, removed json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare
  started bigint := clock();
  ids bigint[];
  freed bigint[];
begin
  ids := array(
    select p.job from (select * from json_to_recordset(items) as x(i bigint, r int) order by x.i) as x cross join lateral (
      select p.job from past p where p.job = x.i and p.rev = x.r and p.from_rev < x.r and p.state is not null
      order by p.job, p.from_rev desc limit 1 for update
    ) p);
  -- In a statement of its own: the transaction that held the lock may have reopened or removed the job.
  ids := array(
    select u.id from unnest(ids) as u(id) join json_to_recordset(items) as x(i bigint, r int) on x.i = u.id
    where (select p.rev from past p where p.job = u.id order by p.job, p.from_rev desc limit 1) = x.r
      and (select r.id from ready r where r.id = u.id) is null and (select l.id from lease l where l.id = u.id) is null
      and (select r.id from rest r where r.id = u.id) is null);
  if cardinality(ids) > 0 then
    perform leave_bundles(ids);
    with gone as (delete from past p where p.job = any(ids) returning p.claim),
    counted as (select abs(g.claim) as id, count(*)::int as n from gone g where g.claim is not null group by 1),
    left_over as (update claim c set refs = c.refs - d.n from counted d where c.id >= d.id and c.id <= d.id returning c.id, c.refs)
    select array_agg(o.id) into freed from left_over o where o.refs <= 0;
    delete from claim c where c.id = any(freed) and (select e.id from entry e where e.claim = c.id limit 1) is null;
    delete from body b where b.job = any(ids);
    delete from key k where k.job = any(ids);
    delete from annotation a where a.job = any(ids);
    delete from link l where l.job = any(ids);
    delete from asked a where a.job = any(ids);
    delete from mark m using job j where j.id = any(ids) and m.job = j.id and m.mark = any(j.marks);
    delete from job j where j.id = any(ids);
    insert into entry (at, jobs, revs, kinds, shapes)
    select started, array_agg(x.i order by x.n), '{0}', array_agg(x.k order by x.n), array_agg(x.z || '-' order by x.n)
    from rows from (json_to_recordset(items) as (i bigint, k int, z text)) with ordinality as x(i, k, z, n) where x.i = any(ids);
  end if;
  return query select started, array_to_json(ids);
end $$;
