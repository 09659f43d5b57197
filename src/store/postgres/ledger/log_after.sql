-- Rows of the log that have something after this number, in order.
-- Caller: `postgres-ledger.ts`. Index: log's primary key. Locks: none.
create or replace function pawl.log_after(of int, after_seq bigint, most int)
returns table (first bigint, prev text, names json, ats json, texts json)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select l.first, l.prev, to_json(l.names), to_json(l.ats), to_json(l.texts)
  from log l where l.p = of and l.last > after_seq order by l.last limit most
$$;
