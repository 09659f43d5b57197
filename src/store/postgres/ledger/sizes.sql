-- How many pieces the image has of each of these keys; none where it has none.
-- Caller: `postgres-ledger.ts`. Index: image's primary key. Locks: none.
create or replace function pawl.sizes(of int, keys uuid[]) returns table (key text, pieces bigint)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select i.key::text, count(*) from image i where i.p = of and i.key = any(keys) group by i.key
$$;
