-- Jobs one of whose keys was held by a transaction that had not ended: asked again, waiting for nobody. Answers as `enqueue` does.
-- Caller: `insert.ts`. Index: those of `bear`. Locks: those of `bear`.
create or replace function pawl.enqueue_each(items json) returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '1ms' as $$
declare
  started bigint := clock();
begin
  return query select started, array_to_json(bear_each(items, started, 10));
end $$;
