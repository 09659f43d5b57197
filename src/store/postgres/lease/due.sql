-- Hands out records whose clock has run out. What was handed out comes again in five seconds: a ticker that dies loses nothing. A
-- claim's tick is never later than its leases'.
-- Caller: `handed-out.ts`. Index: ready_tick, rest_tick, claim_tick, lease's primary key. Locks: what it hands out, SKIP
-- LOCKED; those of `loosen_if_free`.
create or replace function pawl.due(wanted int)
returns table (id bigint, created_at bigint, kind int, lane int, head text, place text, doc text, claim json,
               beats jsonb, log json, now_ms bigint)
language plpgsql rows 100 set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  started bigint := clock();
  ids bigint[] := '{}';
  handed_ids bigint[];
  c record;
begin
  for c in select k.id, k.jobs from claim k where k.tick <= started order by k.tick limit 200 for update skip locked loop
    exit when cardinality(ids) >= wanted;
    continue when not loosen_if_free(c.id);
    with handed as (
      select l.id from lease l where l.id = any(c.jobs) and abs(l.claim) = c.id
        and greatest(least(l.tick, l.expires_at), l.again) <= started
      order by l.id limit wanted - cardinality(ids) for update skip locked
    ), moved as (
      update lease l set again = started + {{due.handedOutMs}} from handed h
      -- Not `=`, here and below: that would allow walking all that stands there (100,000 rows for each that was due).
      where l.id >= h.id and l.id <= h.id returning l.id
    )
    select array_agg(m.id) into handed_ids from moved m;
    ids := ids || coalesce(handed_ids, '{}');
    update claim k set tick = (select min(greatest(least(l.tick, l.expires_at), l.again)) from lease l
                               where l.id = any(c.jobs) and abs(l.claim) = c.id) where k.id = c.id;
  end loop;
  with handed as (
    select r.id from ready r where r.tick <= started and (r.again is null or r.again <= started)
    order by r.tick limit greatest(wanted - cardinality(ids), 0) for update skip locked
  ), moved as (
    update ready r set again = started + {{due.handedOutMs}} from handed h where r.id >= h.id and r.id <= h.id returning r.id
  )
  select array_agg(m.id) into handed_ids from moved m;
  ids := ids || coalesce(handed_ids, '{}');
  with handed as (
    select r.id from rest r where r.tick <= started order by r.tick limit greatest(wanted - cardinality(ids), 0) for update skip locked
  ), moved as (
    update rest r set tick = started + {{due.handedOutMs}} from handed h where r.id >= h.id and r.id <= h.id returning r.id
  )
  select array_agg(m.id) into handed_ids from moved m;
  ids := ids || coalesce(handed_ids, '{}');
  return query select * from records(ids);
end $$;
