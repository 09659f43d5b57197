-- As `bear_all`, one after the other: for what cannot be done in a set. That is a batch in which a key is held by a transaction
-- that has not ended: those who want it are `busy`, and nobody else is; also those who come to it when that transaction has just ended,
-- since of two who want one key the first is first. The others: a batch in which one id is twice, and one that met others again and again.
-- `busy_most`: after so many that have waited the rest is not tried, and `busy` as well. Each is waited for as long as
-- `lock_timeout` says, and a batch that wants many would wait for all of them.
-- Caller: `enqueue`, `enqueue_each`. Index: those of `bear`. Locks: those of `bear`.
create or replace function pawl.bear_each(items json, now_ms bigint, busy_most int) returns text[]
language plpgsql set search_path = pawl, pg_temp as $$
declare
  item json;
  verdict text;
  busy int := 0;
  -- The keys of the job that is looked at, and of those that were busy.
  wanted text[];
  held text[] := '{}';
  answers text[] := '{}';
  jobs bigint[] := '{}';
  kinds int[] := '{}';
  shapes text[] := '{}';
begin
  for item in select * from json_array_elements(items) loop
    wanted := array(select concat_ws(E'\x1f', item ->> 'tn', k ->> 'p', k ->> 'k') from json_array_elements(item -> 'ks') as k);
    begin
      verdict := case when busy >= busy_most or wanted && held then 'busy:' else bear(item, now_ms, null) end;
    exception
      when sqlstate 'PW001' then verdict := sqlerrm;
      when lock_not_available or deadlock_detected then
        verdict := 'busy:';
        busy := busy + 1;
        held := held || wanted;
    end;
    answers := array_append(answers, verdict);
    if verdict is null then
      jobs := jobs || (item ->> 'i')::bigint;
      kinds := kinds || (item ->> 'k')::int;
      shapes := shapes || (item ->> 's');
    end if;
  end loop;
  if cardinality(jobs) > 0 then
    insert into entry (at, jobs, revs, kinds, shapes) values (now_ms, jobs, '{1}', kinds, shapes);
  end if;
  return answers;
end $$;
