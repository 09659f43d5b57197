-- In which commits requests may be told of: the first ones of a job, and those that are noted. JSON keys: i job, q request. Answers with the place of the item, and with the end of a
-- job that has ended, whichever request was asked for. Its plan is kept: making one took ten times what is looked up.
-- Caller: `caused.ts`. Index: asked's and past's primary keys. Locks: none.
create or replace function pawl.caused(items json)
returns table (job bigint, created_at bigint, kind int, lane int, head text, at bigint, from_rev int, rev int, rank bigint,
               before json, claim json, beats jsonb, events text, n int)
language plpgsql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select s.*, x.n::int from rows from (json_to_recordset(items) as (i bigint, q text)) with ordinality as x(i, q, n)
  cross join lateral (
    select p.from_rev from past p where p.job = x.i and p.from_rev < {{asked.from}}
    union
    select a.from_rev from asked a where a.job = x.i and a.request in (request_mark(x.q), 0)
    union
    select l.from_rev from (
      select p.from_rev, p.state from past p where p.job = x.i order by p.job, p.from_rev desc limit 1
    ) l where l.state is not null
  ) a
  cross join lateral (select s.* from stretch s where s.job = x.i and s.from_rev = a.from_rev limit 1) s
  order by x.n, a.from_rev;
end $$;
