-- Ends jobs that the caller knows to be in bundles, without a lease for any of them: all of them, or, where one is not in its bundle
-- any more or may not end, none, and then the caller settles them as leases. JSON keys: those of `settle_leases`, and c the bundle
-- that a group was claimed in. `bundles`: all of them, in order. `uncounted`: bundles whose row somebody else had; the caller has
-- them counted (`recount`) when this is done.
-- Caller: `bundle-ends.ts`. Index: claim's and past's primary keys. Locks: the bundles, shared; at the end their claims' rows, SKIP
-- LOCKED.
create or replace function pawl.settle_bundles(items json, jobs bigint[], revs int[], kinds int[], shapes text[], bundles bigint[])
returns table (now_ms bigint, ended boolean, uncounted text)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  alike record;
  bundle record;
  of_these int;
  of_all int := 0;
  of_bundles bigint[] := '{}';
  counts int[] := '{}';
begin
  -- What others did before they let go must be seen, and would not be in an older snapshot.
  if current_setting('transaction_isolation') <> 'read committed' then
    return query select started, false, null::text;
    return;
  end if;
  -- A transaction that has a bundle alone is about to commit, however slow the disk: breaking up a batch for that made 500 commits of one.
  perform set_config('lock_timeout', '5s', true);
  perform pg_advisory_xact_lock_shared(hashtextextended('pawl.claim', u.id)) from unnest(bundles) as u(id);
  perform set_config('lock_timeout', '100ms', true);
  begin
    -- Few groups, as in `settle_leases`.
    if octet_length(items::text) < 32 * cardinality(jobs) then
      for alike in select * from json_to_recordset(items)
          as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, c bigint) loop
        if alike.r <> {{rev.claimed}} or alike.v <= alike.r or alike.s & {{mask.rank}} <> {{rank.ended}}
           or alike.s >> {{bits.attempt}} <> {{attempt.claimed}} or alike.n <= started then
          raise exception using errcode = 'PW002';
        end if;
        select k.jobs, k.loose into bundle from claim k where k.id = alike.c and k.low is not null;
        insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
        select u.id, alike.a, alike.c, {{step.enqueued}}, alike.s, alike.v, 1, alike.z, alike.p is not null, alike.e, alike.o, alike.d
        from (select unnest(alike.i) intersect select unnest(bundle.jobs) except select unnest(bundle.loose)) as u(id);
        get diagnostics of_these = row_count;
        of_bundles := of_bundles || alike.c;
        counts := counts || of_these;
        of_all := of_all + of_these;
      end loop;
    else
      select array_agg(e.bundle), array_agg(e.jobs), coalesce(sum(e.jobs), 0) into of_bundles, counts, of_all
      from settle_each_bundled(items, bundles, started) as e;
    end if;
    if of_all < cardinality(jobs) then raise exception using errcode = 'PW002'; end if;
  exception when sqlstate 'PW002' or unique_violation then
    return query select started, false, null::text;
    return;
  end;
  insert into entry (at, jobs, revs, kinds, shapes) values (started, jobs, revs, kinds, shapes);
  return query select started, true, count_ended(of_bundles, counts)::text;
end $$;
