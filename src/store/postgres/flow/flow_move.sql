-- Moves of jobs that have a flow, where something becomes of their slots, their keys or a budget: as `move`, and then what is said of each
-- under `fl`, whole or not at all. Answers as `move` does; where a key is not at the revision its item says, with 'c'.
-- JSON keys: those of `move`, and fl, with those of `flow_left` and of `flow_set` (under km).
-- Caller: `commits.ts`. Index: past's primary key, flow_key's tenant and key; those of `flow_move_some`. Locks: those of `flow_move_some`.
create or replace function pawl.flow_move(items json, again boolean, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json) language plpgsql set search_path = pawl, pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  answers text[];
  places int[];
  place int;
begin
  -- What an earlier try has done is done with all that belongs to it.
  answers := case when again then unmoved(items, '{}', started, true) else array_fill('c'::text, array[json_array_length(items)]) end;
  places := array(
    select x.o from rows from (json_to_recordset(items) as (fl json)) with ordinality as x(fl, o)
    cross join lateral json_to_record(x.fl -> 'km') as w(t text, k text, v int)
    -- Not those that come too late; one that is ahead follows another of them.
    where answers[x.o] <> 'a' and (w.k is null or coalesce((select k.rev from flow_key k where k.tenant = w.t and k.key = w.k), 0) <= w.v));
  if cardinality(places) > 0 then
    begin
      answers := flow_move_some(items, places, answers, of_the_callers);
    exception when sqlstate 'PW003' then
      -- Somebody was first in between, with one of the keys.
      foreach place in array places loop
        begin
          answers := flow_move_some(items, array[place], answers, of_the_callers);
        exception when sqlstate 'PW003' then answers[place] := 'c';
        end;
      end loop;
    end;
  end if;
  return query select started, array_to_json(answers);
end $$;
