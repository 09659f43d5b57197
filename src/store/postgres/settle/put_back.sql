-- Puts owned jobs back into their lanes, which is what becomes of an attempt that is tried again or given up: all of them, or, where one
-- is not owned at that revision any more, has heartbeats to tell of or is late, none, and then the caller moves them (`move`), which
-- says of each what became of it. Columns as arrays, the jobs in their order; of all but `jobs` and `claims` one element stands for all
-- of them and none for null. `claims`: the bundles that they are in, each; none where they have leases. `bodies`: at most one each.
-- Requests are not noted: the caller has none that would have to be (`asked.from`).
-- As items of `move` they cost 40 µs more each: parsed twice, with five times as many columns, and leased first if they were bundled.
-- Caller: `put-back.ts`. Index: lease's, claim's and past's primary keys. Locks: the bundles, shared; the leases, in the order of the
-- jobs; at the end the claims' rows of bundles, SKIP LOCKED.
create or replace function pawl.put_back(jobs bigint[], claims bigint[], revs int[], lates bigint[], next_revs int[], steps bigint[],
                              times bigint[], words text[], docs text[], readies bigint[], lanes int[], windows int[], kinds int[],
                              first_revs int[], shapes text[], ticks bigint[], careful boolean[], body_keys text[], bodies text[])
returns table (now_ms bigint, is_done boolean, uncounted text)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  was record;
  t1 bigint := times[1]; s1 bigint := steps[1]; v1 int := next_revs[1]; e1 text := words[1]; d1 text := docs[1];
  a1 bigint := readies[1]; l1 int := lanes[1]; w1 int := windows[1]; k1 int := kinds[1]; b1 text := body_keys[1];
  n1 bigint := case when cardinality(ticks) = 1 then ticks[1] end;
  c1 boolean := case when cardinality(careful) = 1 then careful[1] end;
  x1 text := case when cardinality(bodies) = 1 then bodies[1] end;
begin
  begin
    was := case when claims = '{}' then let_go(jobs) else let_go_bundled(jobs, claims) end;
    if jobs is distinct from was.jobs or started >= any(lates)
       or was.revs <> (case when cardinality(revs) = 1 then array_fill(revs[1], array[cardinality(jobs)]) else revs end) then
      raise exception using errcode = 'PW002';
    end if;
    perform from (select unnest(was.steps) as f, unnest(was.revs) as r, unnest(steps) as s, unnest(next_revs) as v) as x
    where is_wrong(x.f, coalesce(x.s, s1), x.r, coalesce(x.v, v1), 'r', false) is not false limit 1;
    if found then raise exception using errcode = '23514', message = 'a job may not move there'; end if;
    insert into past (job, at, claim, from_step, to_step, rev, from_rev, plain, events)
    select i, coalesce(t, t1), c, f, coalesce(s, s1), coalesce(v, v1), case when c is null then r else r - 1 end, false, coalesce(e, e1)
    from (select unnest(jobs) as i, unnest(times) as t, unnest(was.claims) as c, unnest(was.from_steps) as f, unnest(steps) as s,
                 unnest(next_revs) as v, unnest(was.revs) as r, unnest(words) as e) as x;
  exception when sqlstate 'PW002' or unique_violation then
    return query select started, false, null::text;
    return;
  end;
  insert into ready (id, ready_at, lane, window_ms, kind, rev, step, careful, tick, doc)
  select i, coalesce(a, a1), coalesce(l, l1), coalesce(w, w1), coalesce(k, k1), coalesce(v, v1), coalesce(s, s1), coalesce(c, c1),
         coalesce(n, n1), coalesce(d, d1)
  from (select unnest(jobs) as i, unnest(readies) as a, unnest(lanes) as l, unnest(windows) as w, unnest(kinds) as k,
               unnest(next_revs) as v, unnest(steps) as s, unnest(careful) as c, unnest(ticks) as n, unnest(docs) as d) as x;
  if bodies <> '{}' then
    insert into body (job, key, text) select i, coalesce(b, b1), coalesce(x, x1)
    from (select unnest(jobs) as i, unnest(body_keys) as b, unnest(bodies) as x) as x where coalesce(x, x1) is not null
    on conflict (job, key) do update set text = excluded.text;
  end if;
  insert into entry (at, jobs, revs, kinds, shapes) values (started, jobs, first_revs, kinds, shapes);
  return query select started, true, case when claims <> '{}' then count_ended(claims, array_fill(1, array[cardinality(jobs)]))::text end;
end $$;
