-- Gives jobs that are in bundles leases of their own, before somebody looks for those. A few at a time leave the others together,
-- for they may all end without having been heard of; where one job of a bundle after the other is asked for, parting them one by
-- one is the dearer way (a third of a core for 10,000 running jobs), so from the seventeenth on all are parted. `all_of_them`: at
-- once, since of jobs that live long enough for a heartbeat all will be asked for.
-- Caller: `commits.ts`, `heartbeat`, `move`, `settle_leases`. Index: lease's primary key, claim_bundle; the open bundles are as
-- many as there are big claims under way. Locks: those of `loosen_from`, bundle by bundle in their order.
create or replace function pawl.loosen(ids bigint[], all_of_them boolean default false) returns void
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off set enable_seqscan = off as $$
declare
  c record;
  of_it bigint[];
begin
  if not exists (select from claim k where k.low is not null) then return; end if;
  ids := array(select u.id from unnest(ids) as u(id)
               left join lateral (select l.id from lease l where l.id = u.id limit 1) l on true where l.id is null);
  -- Put in order after they were found: a planner that is asked for both walks all claims there are, which it has in that order.
  for c in with near as materialized (
      select k.id, k.jobs, k.loose from claim k where k.low is not null and k.low <= (select max(u) from unnest(ids) as u)
        and k.high >= (select min(u) from unnest(ids) as u)
    ) select * from near order by id loop
    of_it := array(select unnest(ids) intersect select unnest(c.jobs) except select unnest(c.loose));
    continue when cardinality(of_it) = 0;
    perform loosen_from(c.id, case when all_of_them or cardinality(c.loose || of_it) > 16 then c.jobs else of_it end);
  end loop;
end $$;
