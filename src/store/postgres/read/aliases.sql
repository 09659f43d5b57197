-- Which jobs hold keys. JSON keys: t tenant, p purpose (or `alias`), k key. Answers in order.
-- Caller: `load.ts`. Index: key's primary key. Locks: none.
create or replace function pawl.aliases(items json) returns json language sql stable set search_path = pawl, pg_temp as $$
  select json_agg(k.job order by x.n)
  from rows from (json_to_recordset(items) as (t text, p text, k text)) with ordinality as x(t, p, k, n)
  left join key k on k.tenant = x.t and k.purpose = x.p and k.key = x.k
$$;
