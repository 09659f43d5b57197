-- The commits in which revisions are.
-- Caller: `logs.ts`. Index: past's primary key. Locks: none.
create or replace function pawl.commits_at(ids bigint[], revs int[]) returns setof pawl.stretch
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select distinct on (l.job, l.from_rev) l.* from unnest(ids, revs) as u(id, rev) cross join lateral (
    select s.* from stretch s where s.job = u.id and s.from_rev < u.rev order by s.job, s.from_rev desc limit 1
  ) l where l.rev >= u.rev order by l.job, l.from_rev
$$;
