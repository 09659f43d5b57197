-- Which jobs hold keys. JSON keys: t tenant, p purpose (or `alias`), k key. Answers in order.
-- Caller: `load.ts`. Index: key's primary key. Locks: none.
create or replace function pawl.aliases(items json) returns json
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select json_agg(k.job order by x.n)
  from rows from (json_to_recordset(items) as (t text, p text, k text)) with ordinality as x(t, p, k, n)
  left join lateral (select k.job from key k where k.tenant = x.t and k.purpose = x.p and k.key = x.k limit 1) k on true
$$;
