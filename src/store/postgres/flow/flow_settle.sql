-- As `settle_leases`, of jobs with slots: the plain ends of attempts, nearly all there is, under keys that stay as they are. Frees the slots of those that
-- have ended, all of them by one statement. Answers also with the keys at which somebody waits. Where one of `keys` is not at the revision
-- that is said of it, nothing is done, and `is_stale`: then what has become of each is for `flow_move` to say. A key whose slot a
-- job has is not forgotten, so it has the number it had.
-- Caller: `vacating.ts`. Index: flow_key's primary key; those of `settle_leases` and `flow_vacate`. Locks: those of `settle_leases`, then of `flow_vacate`.
create or replace function pawl.flow_settle(items json, jobs bigint[], revs int[], kinds int[], shapes text[], keys int[], key_revs int[])
returns table (now_ms bigint, missed json, waited int[], is_stale boolean) language plpgsql rows 1 set search_path = pawl, pg_temp set jit = off
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  is_stale := exists (
    select from unnest(keys, key_revs) as u(key, rev) where u.rev is distinct from (select k.rev from flow_key k where k.id = u.key));
  if is_stale then
    now_ms := clock();
    return next;
    return;
  end if;
  select s.now_ms, s.missed into now_ms, missed from settle_leases(items, jobs, revs, kinds, shapes) as s;
  waited := flow_vacate(case when missed is null then jobs
                        else array(select unnest(jobs) except select json_array_elements_text(missed)::bigint) end, now_ms);
  return next;
end $$;
