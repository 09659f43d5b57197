-- Ends owned jobs that touch no key and no body, which is nearly all there is. Answers with the items it could not apply. JSON
-- keys, of groups of jobs that end alike: i ids, r rev before, n not after, v rev after, s step after, a at, z state, e events, p 1 if
-- plain, d doc, o output, c the bundle they were claimed in. Alike are most jobs of a batch; an object per job cost 3 µs more.
-- `bundles`: all of them, in order. `uncounted`: bundles whose row somebody else had; the caller has them counted (`recount`) when
-- this is done.
-- Caller: `commits.ts`. Index: lease's and claim's primary keys. Locks: bundles, shared, and the leases it ends; at the end
-- bundles' rows, SKIP LOCKED.
create or replace function pawl.settle(items json, jobs bigint[], revs int[], kinds int[], shapes text[], bundles bigint[] default null,
                            of_the_callers boolean default false)
returns table (now_ms bigint, missed json, uncounted text)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  -- Few bytes for many jobs: few groups. A statement for each has nothing to join and carries no words from row to row:
  -- 4.4 instead of 5.6 µs per job; with hundreds of groups it is the dearer way. (A list of what it did: 4.5.)
  few_groups boolean := octet_length(items::text) < 32 * cardinality(jobs);
  alike record;
  bundle record;
  ended int := 0;
  of_these int;
  done bigint[];
  of_bundles bigint[];
  counts int[];
  lost bigint[];
  taken bigint[];
  -- In a transaction of the caller's there is no second try: a heartbeat that is just being committed is waited for.
  patience text := case when of_the_callers then '5s' else '100ms' end;
begin
  if of_the_callers then perform set_config('lock_timeout', patience, true); end if;
  if current_setting('transaction_isolation') <> 'read committed' then bundles := null; end if;
  -- It only counts what it did: where something is missed all of it is undone and done again by the careful way.
  if few_groups or bundles is not null then
    begin
      if bundles is not null then
        -- Whoever has one alone is about to commit, however slow the disk: breaking up a batch for that made 500 commits of one.
        perform set_config('lock_timeout', '5s', true);
        perform pg_advisory_xact_lock_shared(hashtextextended('pawl.claim', u.id)) from unnest(bundles) as u(id);
        perform set_config('lock_timeout', patience, true);
      end if;
      if few_groups then
        for alike in select * from json_to_recordset(items)
            as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, c bigint) loop
          of_these := 0;
          if alike.c is not null and alike.r = {{rev.claimed}} and alike.v > alike.r
             and alike.s & {{mask.rank}} = {{rank.ended}} and alike.s >> {{bits.attempt}} = {{attempt.claimed}}
             and (alike.n is null or alike.n > started) then
            select k.jobs, k.loose into bundle from claim k where k.id = alike.c and k.low is not null;
            insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
            select u.id, alike.a, alike.c, {{step.enqueued}}, alike.s, alike.v, 1, alike.z, alike.p is not null, alike.e, alike.o, alike.d
            from (select unnest(alike.i) intersect select unnest(bundle.jobs) except select unnest(bundle.loose)) as u(id);
            get diagnostics of_these = row_count;
            if of_these > 0 then
              of_bundles := of_bundles || alike.c;
              counts := counts || of_these;
            end if;
          end if;
          ended := ended + of_these;
          continue when of_these = cardinality(alike.i);
          with gone as (
            delete from lease l
            where l.id = any(alike.i) and l.rev = alike.r and alike.v > alike.r and alike.s & {{mask.rank}} = {{rank.ended}}
              and l.step >> {{bits.attempt}} = alike.s >> {{bits.attempt}} and (alike.n is null or alike.n > started)
            returning l.id, l.claim, l.step, l.from_step, l.beat
          )
          insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
          select g.id, alike.a, case when g.claim > 0 then g.claim end,
                 case when g.claim > 0 then coalesce(g.from_step, {{step.enqueued}}) else g.step end, alike.s, alike.v,
                 case when g.claim > 0 then alike.r - 1 else alike.r end - coalesce(beats_in(g.beat), 0),
                 alike.z, alike.p is not null, alike.e, alike.o, alike.d, g.beat -> 'p'
          from gone g;
          get diagnostics of_these = row_count;
          ended := ended + of_these;
        end loop;
      else
        select array_agg(e.bundle), array_agg(e.jobs), coalesce(sum(e.jobs), 0) into of_bundles, counts, ended
        from settle_each_bundled(items, bundles, started) as e;
        if ended < cardinality(jobs) then ended := ended + cardinality(settle_each(items, started)); end if;
      end if;
      if ended < cardinality(jobs) then raise exception using errcode = 'PW002'; end if;
    exception when sqlstate 'PW002' or unique_violation then ended := 0;
    end;
  end if;
  if ended < cardinality(jobs) then
    done := settle_each(items, started);
    if cardinality(done) < cardinality(jobs) then
      perform loosen(array(select unnest(jobs) except select unnest(done)));
      done := done || settle_each(items, started);
    end if;
    if cardinality(done) < cardinality(jobs) then lost := array(select unnest(jobs) except select unnest(done)); end if;
  elsif of_bundles is not null then
    -- At the end, and nobody is waited for: a bundle's ends come from two connections, and the disk is slow.
    for bundle in select u.id, sum(u.n)::int as n from unnest(of_bundles, counts) as u(id, n) group by u.id order by u.id loop
      perform from claim k where k.id = bundle.id for update skip locked;
      if not found then
        taken := taken || bundle.id;
        continue;
      end if;
      update claim k set open = nullif(k.open - bundle.n, 0), low = case when k.open > bundle.n then k.low end,
        high = case when k.open > bundle.n then k.high end,
        tick = case when k.open > bundle.n or k.loose is not null then k.tick end
      where k.id = bundle.id;
    end loop;
  end if;
  insert into entry (at, jobs, revs, kinds, shapes, void)
  values (started, jobs, revs, kinds, shapes, lost);
  return query select started, array_to_json(lost), taken::text;
end $$;
