-- Jobs with keys, in the caller's transaction, and item by item after a batch has failed. Answers with the clock and, for each
-- item in order, null or 'by:holder'. Never "no row": who was second is told who was first. JSON keys: those of `bear`, and s shape.
--
-- A key that is held by a transaction which has not ended is waited for: a moment only on a connection of ours, on which others
-- wait as well; in a transaction of the caller's, who may have come to wait, as long as the caller's own `lock_timeout` says, or
-- 5 s where it says nothing. Then a job that wants that key is `busy`; the others are not, and the transaction is as it was.
-- Caller: `insert.ts`, `enqueue_together`. Index: those of `bear_all`. Locks: those of `bear_all`, until the transaction ends.
create or replace function pawl.enqueue(items json, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
declare
  started bigint := clock();
  theirs text := current_setting('lock_timeout');
  answers text[];
begin
  if not of_the_callers then perform set_config('lock_timeout', '20ms', true);
  elsif theirs = '0' then perform set_config('lock_timeout', '5s', true);
  end if;
  for tries in 1..3 loop
    begin
      answers := bear_all(items, started);
      exit;
    exception
      -- Somebody was first in between.
      when unique_violation then null;
      when lock_not_available or deadlock_detected then
        -- That was long enough for all of them.
        perform set_config('lock_timeout', '1ms', true);
        exit;
    end;
  end loop;
  if answers is null then answers := bear_each(items, started, case when not of_the_callers then 10 end); end if;
  perform set_config('lock_timeout', theirs, true);
  return query select started, array_to_json(answers);
end $$;
