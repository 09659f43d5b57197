-- Everything that is not a plain enqueue, a claim or the plain end of a lease: moves of single jobs, item by item, each whole or
-- not at all. Answers with the clock and a verdict for each item in order: 'a', 'c', 'l', or 'purpose:holder:key'.
-- Caller: `commits.ts`. Index: those of `move_one`. Locks: those of `move_one`, in the order of the items.
create or replace function pawl.move(items json, again boolean, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off set enable_seqscan = off as $$
declare
  started bigint := clock();
  item json;
  verdict text;
  wanted text;
  answers text[] := '{}';
  jobs bigint[] := '{}';
  revs int[] := '{}';
  kinds int[] := '{}';
  shapes text[] := '{}';
begin
  if of_the_callers then perform set_config('lock_timeout', '5s', true); end if;
  perform loosen(array(select x.i from json_to_recordset(items) as x(i bigint, q text) where x.q = 'l'));
  for item in select * from json_array_elements(items) loop
    if item -> 'kt' is null and item -> 'sp' is null then
      verdict := move_one(item, started, again);
    else
      begin
        verdict := move_one(item, started, again);
      exception when sqlstate 'PW001' then
        get stacked diagnostics wanted = pg_exception_detail;
        verdict := sqlerrm || ':' || wanted;
      end;
    end if;
    -- What was applied before was told of before: the feed shows it once.
    answers := answers || case when verdict = 'b' then 'a' else verdict end;
    if verdict = 'a' then
      jobs := jobs || (item ->> 'i')::bigint;
      revs := revs || (item ->> 'f')::int;
      kinds := kinds || (item ->> 'k')::int;
      shapes := shapes || (item ->> 'h');
      if item -> 'sp' is not null then
        jobs := jobs || (item -> 'sp' ->> 'i')::bigint;
        revs := revs || 1;
        kinds := kinds || (item -> 'sp' ->> 'k')::int;
        shapes := shapes || (item -> 'sp' ->> 's');
      end if;
    end if;
  end loop;
  if cardinality(jobs) > 0 then
    insert into entry (at, jobs, revs, kinds, shapes) values (started, jobs, revs, kinds, shapes);
  end if;
  return query select started, array_to_json(answers);
end $$;
