-- Of moves with flows those at these places, together; of one key they follow each other by its revisions. Answers with all verdicts, theirs filled in:
-- 'aw' is 'a' where somebody waits at one of its keys. Raises PW003 where a key was
-- changed by somebody else after it was looked at. Keys come last, and in one order: a transaction that has one waits for no job.
-- Caller: `flow_move`, under whose planner switches it runs. Index: flow's primary key, flow_waits; those of `move`, `flow_set` and `flow_left`. Locks: those of `move`,
-- then of `flow_left`, then of `flow_set`, key by key in their order.
create or replace function pawl.flow_move_some(items json, places int[], answers text[], of_the_callers boolean) returns text[]
language plpgsql as $$
declare
  chosen json;
  moved record;
  verdict text;
  n int := 0;
  left_ones json;
  of_key json;
  waited int[];
begin
  chosen := items;
  if cardinality(places) < cardinality(answers) then
    -- All items are read once: one by one, by their places, each would be looked for from the beginning of the text.
    select json_agg(x.item order by x.n) into chosen from json_array_elements(items) with ordinality as x(item, n) where x.n = any(places);
  end if;
  select * into moved from pawl.move(chosen, false, of_the_callers) as m;
  for verdict in select json_array_elements_text(moved.verdicts) loop
    n := n + 1;
    answers[places[n]] := verdict;
  end loop;
  select json_agg(x.fl order by x.o) into left_ones from rows from (json_to_recordset(items) as (fl json)) with ordinality as x(fl, o)
  where x.o = any(places) and answers[x.o] = 'a';
  if left_ones is null then return answers; end if;
  perform pawl.flow_left(left_ones, moved.now_ms);
  -- Whether somebody is to look at its keys right away. Who is put to wait at one of them meanwhile is found by the ticker.
  waited := array(
    select u.f from (select distinct x.f from json_to_recordset(left_ones) as x(f int)) as u
    cross join lateral (select f.keys from pawl.flow f where f.id = u.f limit 1) f
    where exists (select from unnest(f.keys) as k(id) cross join lateral (select from pawl.flow w where w.waits_at = 'key ' || k.id limit 1) w));
  if cardinality(waited) > 0 then
    answers := array(
      select case when x.a = 'a' and x.f = any(waited) then 'aw' else x.a end
      from rows from (unnest(answers), json_to_recordset(items) as (fl json)) with ordinality as y(a, fl, o)
      cross join lateral (select y.a, (y.fl ->> 'f')::int as f) x order by y.o);
  end if;
  -- Most keys are only compared, and that is done for all of them at once.
  if exists (
    select from json_to_recordset(left_ones) as x(km json) cross join lateral json_to_record(x.km) as w(t text, k text, v int, z text)
    where w.z = 'same' and w.v <> coalesce((select k.rev from pawl.flow_key k where k.tenant = w.t and k.key = w.k), 0)
  ) then raise exception using errcode = 'PW003'; end if;
  for of_key in select x.km from json_to_recordset(left_ones) as x(km json) where x.km is not null and x.km ->> 'z' is distinct from 'same'
      order by x.km ->> 't' collate "C", x.km ->> 'k' collate "C", (x.km ->> 'v')::int loop
    if not pawl.flow_set(of_key) then raise exception using errcode = 'PW003'; end if;
  end loop;
  return answers;
end $$;
