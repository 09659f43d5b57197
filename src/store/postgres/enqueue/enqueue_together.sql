-- Jobs that come together or not at all. Where one of them met somebody nothing is written; each is told what it met, or would
-- have met, and the caller says whether that will do.
-- Caller: `insert-together.ts`. Index: those of `enqueue`. Locks: those of `enqueue`, given up where it is undone.
create or replace function pawl.enqueue_together(items json, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = pawl, pg_temp as $$
declare
  answer record;
begin
  begin
    select * into answer from enqueue(items, of_the_callers);
    if exists (select from json_array_elements_text(answer.verdicts) as v where v is not null) then
      raise exception 'undone' using errcode = 'PW002';
    end if;
  exception when sqlstate 'PW002' then null;
  end;
  return query select answer.now_ms, answer.verdicts;
end $$;
