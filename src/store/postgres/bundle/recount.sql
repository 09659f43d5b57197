-- Counts what is left of bundles, after ends that were not counted because somebody else had the row. What ends just now is not
-- seen yet and counts itself, or comes back here.
-- Caller: `bundle-ends.ts`, `put-back.ts`. Index: claim's and past's primary keys. Locks: the claims' rows.
create or replace function pawl.recount(bundles bigint[]) returns void
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  bundle bigint;
  it claim%rowtype;
  left_open int;
begin
  foreach bundle in array bundles loop
    select * into it from claim k where k.id = bundle and k.low is not null for update;
    continue when not found;
    select nullif(count(*), 0) into left_open from (select unnest(it.jobs) except select unnest(it.loose)) as u(id)
    left join lateral (select p.job from past p where p.job = u.id limit 1) p on true where p.job is null;
    update claim k set open = left_open, low = case when left_open > 0 then k.low end,
      high = case when left_open > 0 then k.high end,
      tick = case when left_open > 0 or k.loose is not null then k.tick end
    where k.id = bundle;
  end loop;
end $$;
