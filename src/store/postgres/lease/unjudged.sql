-- Hands out records that wait to be judged, those that have waited longest first. What was handed out comes again in five seconds.
-- Caller: `handed-out.ts`. Index: rest_judge, rest's primary key. Locks: what it hands out, SKIP LOCKED.
create or replace function pawl.unjudged(wanted int)
returns table (id bigint, created_at bigint, kind int, lane int, head text, place text, doc text, claim json,
               beats jsonb, log json, now_ms bigint)
language plpgsql rows 100 set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  started bigint := clock();
  ids bigint[];
begin
  with handed as (
    select r.id from rest r where r.judge <= started order by r.judge limit wanted for update skip locked
  ), moved as (
    update rest r set judge = started + {{due.handedOutMs}} from handed h
    -- Not `=`: that would allow walking all that stands there.
    where r.id >= h.id and r.id <= h.id returning r.id
  )
  select array_agg(m.id) into ids from moved m;
  return query select * from records(coalesce(ids, '{}'));
end $$;
