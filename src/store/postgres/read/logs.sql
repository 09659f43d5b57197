-- The beginnings of several logs.
-- Caller: `by-correlation.ts`, `short-logs.ts`. Index: past's primary key. Locks: none.
create or replace function pawl.logs(ids bigint[], row_limit int) returns setof pawl.stretch
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select l.* from unnest(ids) with ordinality as u(id, n) cross join lateral (
    select s.* from stretch s where s.job = u.id order by s.job, s.from_rev limit row_limit
  ) l order by u.n, l.from_rev
$$;
