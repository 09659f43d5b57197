-- Where the log has these names, from the entry before this number's next on.
-- Caller: `postgres-ledger.ts`. Index: log's primary key. Locks: none.
create or replace function pawl.named_after(of int, after_seq bigint, wanted text[]) returns table (seq bigint, name text)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select l.first - 2 + n.place, n.name
  from log l cross join lateral unnest(array_prepend(l.prev, l.names)) with ordinality as n(name, place)
  where l.p = of and l.last > after_seq and n.name = any(wanted)
$$;
