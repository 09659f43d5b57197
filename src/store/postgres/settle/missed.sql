-- Why `settle_leases` could not apply items. JSON keys: i id, r rev before, v rev after, e events.
-- Caller: `commits.ts`. Index: past's and lease's primary keys. Locks: none.
create or replace function pawl.missed(items json, again boolean) returns json
language sql volatile set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select json_agg(case when again and p.rev = x.v and p.events = x.e then 'a' when l.rev = x.r then 'l' else 'c' end order by x.o)
  from rows from (json_to_recordset(items) as (i bigint, r int, v int, e text)) with ordinality as x(i, r, v, e, o)
  left join lateral (
    select p.rev, p.events from past p where p.job = x.i and p.from_rev < x.v order by p.job, p.from_rev desc limit 1
  ) p on true
  left join lateral (select l.rev from lease l where l.id = x.i limit 1) l on true
$$;
