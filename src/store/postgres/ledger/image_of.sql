-- What the image has of these keys.
-- Caller: `postgres-ledger.ts`. Index: image's primary key. Locks: none.
create or replace function pawl.image_of(of int, keys uuid[]) 
returns table (kind text, key_name text, name text, value text, score text, until bigint)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select i.kind::text, i.key_name, i.name, i.value, i.score::text, i.until from image i where i.p = of and i.key = any(keys) order by i.key, i.place
$$;
