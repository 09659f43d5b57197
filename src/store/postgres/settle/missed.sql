-- Why `settle_leases` could not apply items. JSON keys: i id, r rev before, v rev after, e events.
-- Caller: `commits.ts`. Index: past's and lease's primary keys. Locks: none.
create or replace function pawl.missed(items json, again boolean) returns json
language sql volatile set search_path = pawl, pg_temp as $$
  select json_agg(case
    when again and exists (select from past p where p.job = x.i and p.rev = x.v and p.events = x.e) then 'a'
    when exists (select from lease l where l.id = x.i and l.rev = x.r) then 'l' else 'c' end order by x.o)
  from rows from (json_to_recordset(items) as (i bigint, r int, v int, e text)) with ordinality as x(i, r, v, e, o)
$$;
