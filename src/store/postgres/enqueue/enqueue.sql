-- Jobs with keys, in the caller's transaction, and item by item after a batch has failed. Answers with the clock and, for each
-- item in order, null or 'by:holder'. Never "no row": who was second is told who was first. JSON keys: those of `bear`, and s shape.
--
-- A key that is held by a transaction which has not ended is waited for. A moment only on a connection of ours, where the batch is
-- broken up then; in a transaction of the caller's, who may have come to wait, as long as the caller's own `lock_timeout` says, or
-- 5 s where it says nothing. Then the item is `busy`, and their transaction is as it was.
-- Caller: `insert.ts`, `enqueue_together`. Index: those of `bear`. Locks: those of `bear`, until the transaction ends.
create or replace function pawl.enqueue(items json, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
declare
  started bigint := clock();
  theirs text := current_setting('lock_timeout');
  item json;
  verdict text;
  answers text[] := '{}';
  jobs bigint[] := '{}';
  kinds int[] := '{}';
  shapes text[] := '{}';
begin
  if not of_the_callers then perform set_config('lock_timeout', '100ms', true);
  elsif theirs = '0' then perform set_config('lock_timeout', '5s', true);
  end if;
  for item in select * from json_array_elements(items) loop
    begin
      verdict := bear(item, started, null);
    exception
      when sqlstate 'PW001' then verdict := sqlerrm;
      when lock_not_available or deadlock_detected then
        if not of_the_callers then raise; end if;
        verdict := 'busy:';
    end;
    answers := array_append(answers, verdict);
    if verdict is null then
      jobs := jobs || (item ->> 'i')::bigint;
      kinds := kinds || (item ->> 'k')::int;
      shapes := shapes || (item ->> 's');
    end if;
  end loop;
  if cardinality(jobs) > 0 then
    insert into entry (at, jobs, revs, kinds, shapes) values (started, jobs, '{1}', kinds, shapes);
  end if;
  perform set_config('lock_timeout', theirs, true);
  return query select started, array_to_json(answers);
end $$;
