-- Rows of the log that have something after this number, in order: so many at most, and no more bytes than these, but one row always.
-- Caller: `postgres-ledger.ts`. Index: log's primary key. Locks: none.
create or replace function pawl.log_after(of int, after_seq bigint, most int, bytes bigint)
returns table (first bigint, prev text, names json, ats json, texts json)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select w.first, w.prev, to_json(w.names), to_json(w.ats), to_json(w.texts) from (
    select r.*, sum(r.size) over (order by r.last) - r.size as before from (
      select l.*, pg_column_size(l.texts) as size from log l where l.p = of and l.last > after_seq order by l.last limit most
    ) r
  ) w where w.before < bytes order by w.last
$$;
