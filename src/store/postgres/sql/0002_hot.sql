-- The hot path as functions: one call, one round trip, the plan kept by the server whatever pools in between. A function
-- holds a statement, never a rule. Planner switches are attached because the ordered index scan must be the only
-- possible plan, also on a table that was never analyzed.

create function pawl.clock() returns bigint language sql volatile as
$$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$;

-- How many heartbeats are not in `past` yet. Strict: called for every row settled, and nearly all have none.
create function pawl.beats_in(beat jsonb) returns int language sql immutable strict as
$$ select sum((run ->> 0)::int)::int from jsonb_array_elements(beat -> 'p') as run $$;

-- Who calls it: insert, for jobs without keys. Locks: none but its own rows. A duplicate id fails the whole batch, which
-- is then broken up and goes through `pawl.enqueue`, item by item.
-- JSON keys, of groups of jobs that are born alike: i ids, b inputs (absent: none has one), t created, k kind, l lane,
-- w lease window, h head, c correlation, m marks, r ready at (absent: created), n tick, p 1 where it is not claimable.
create function pawl.insert_plain(items json, jobs bigint[], kinds int[], shapes text[]) returns bigint
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' as $$
declare now_ms bigint := clock();
begin
  with x as materialized (
    select u.i, u.b, x.t, x.k, x.l, x.w, x.h, x.c, x.m, x.r, x.n, x.p from json_to_recordset(items) as x(
      i bigint[], b text[], t bigint, k int, l int, w int, h text, c text, m text[], r bigint, n bigint, p int),
      unnest(x.i, x.b) as u(i, b)
  ), born as (
    insert into job (id, created_at, kind, lane, input, head, correlation, marks)
    select i, t, k, l, b, h, c, m from x
  ), resting as (
    insert into rest (id, tick) select i, n from x where p = 1
  )
  insert into ready (id, ready_at, lane, window_ms, tick) select i, coalesce(r, t), l, w, n from x where p is null;
  insert into entry (at, jobs, revs, kinds, shapes) values (now_ms, jobs, '{1}', kinds, shapes);
  return now_ms;
end $$;

-- Who calls it: claim. Index: ready's primary key, lane by lane; lease and job by primary key. Locks: the rows it takes,
-- SKIP LOCKED. The first row of the answer has no id: it tells the time, the time of the claim and whether it is a
-- repetition. Then the jobs; rev and step are absent where the job was untouched, the last row of a lane names it and the
-- time it reached. What the caller can compute (lease end, attempt) is not sent: each column cost 0.1 µs a row.
create function pawl.claim(request_id text, request_text text, worker_id text, actor_name text, nonce_text text,
                           lanes int[], starts bigint[], wanted int, max_bytes bigint)
returns table (id bigint, created_at bigint, kind int, lane int, head text, input text, doc text, rev int, step bigint,
               flushed boolean, from_lane int, ready_at bigint)
language plpgsql rows 500
set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_incremental_sort = off set enable_material = off set plan_cache_mode = force_generic_plan as $$
declare
  claim_id bigint;
  claimed_at bigint;
  started bigint := clock();
begin
  select c.id, c.at into claim_id, claimed_at from claim c where c.request = request_id;
  return query select null::bigint, started, null::int, null::int, null::text, null::text, null::text, null::int,
                      coalesce(claimed_at, started), claim_id is not null, null::int, null::bigint;
  if claim_id is not null then
    -- Where nothing of it is left the answer is empty: the number is taken, and nobody gets anything new under it.
    return query select l.id, j.created_at, j.kind, j.lane, j.head,
             case when sum(coalesce(octet_length(j.input), 0)) over (order by u.n) <= max_bytes then j.input end,
             l.doc, l.rev - coalesce(beats_in(l.beat), 0), l.step, l.claim < 0, null::int, null::bigint
      from claim c cross join lateral unnest(c.jobs) with ordinality as u(job, n)
      join lease l on l.id = u.job and abs(l.claim) = c.id and l.expires_at > started
      join job j on j.id = l.id
      where c.id = claim_id order by u.n;
    return;
  end if;
  claim_id := nextval(pg_get_serial_sequence('pawl.claim', 'id'));
  return query
    -- Everything below follows the order in which `picked` took the rows: lanes as asked, each by its index. Only nested
    -- loops are possible, and they keep it; numbering and sorting the rows again cost 1 µs per job.
    with picked as materialized (
      select r.ctid as tid, r.id, r.lane, r.ready_at, r.window_ms, r.rev, r.step, r.tick, r.doc
      from (select a.lane, a.start, a.n from unnest(lanes, starts) with ordinality as a(lane, start, n)
            join queue q on q.id = a.lane / 10 and not q.paused order by a.n) as a
      cross join lateral (
        select r.ctid, r.* from ready r
        where r.lane = a.lane and r.ready_at >= a.start and r.ready_at <= started
        order by r.lane, r.ready_at, r.id limit wanted for update skip locked
      ) as r
      limit wanted
    ), gone as (
      -- One scan for all: joined row by row, each asked the file system for the table's length (0.3 µs).
      delete from ready r where r.ctid = any(array(select p.tid from picked p))
    ), joined as materialized (
      select p.id, p.lane, p.ready_at, p.rev, p.step, p.doc, p.tick, started + p.window_ms as expires_at,
             j.created_at, j.kind, j.lane as born, j.head, j.input
      -- One index look-up per row: joined, a plan made while the table was empty walked the whole index for each of them
      -- (250 to 800 ms for a claim of 500 beside 4,000 jobs).
      from picked p cross join lateral (select j.* from job j where j.id = p.id limit 1) j
    ), leased as (
      insert into lease (id, claim, expires_at, rev, step, tick, doc)
      select j.id, claim_id, j.expires_at, coalesce(j.rev, 1) + 1, ((coalesce(j.step, 7) >> 4) + 1 << 4) + 1,
             case when j.tick < j.expires_at then j.tick end, j.doc from joined j
    ), noted as (
      insert into claim (id, request, request_words, worker, actor, nonce, at, tick, refs, jobs)
      overriding system value
      select claim_id, request_id, request_text, worker_id, actor_name, nonce_text, started,
             min(least(j.tick, j.expires_at)), count(*), array_agg(j.id)
      from joined j having count(*) > 0
    ), told as (
      insert into entry (at, claim, jobs, revs, kinds, shapes)
      select started, claim_id, '{}',
             case when min(coalesce(j.rev, 1)) = max(coalesce(j.rev, 1)) then array[min(coalesce(j.rev, 1)) + 1]
                  else array_agg(coalesce(j.rev, 1) + 1) end,
             case when min(j.kind) = max(j.kind) then array[min(j.kind)] else array_agg(j.kind) end,
             case when min(coalesce(j.step & 15, 7)) = 7 then array['qcc']
                  else array_agg(case j.step & 15 when 5 then 'lcc' when 6 then 'tcc' else 'qcc' end) end
      from joined j having count(*) > 0
    )
    select j.id, j.created_at, j.kind, j.born, j.head,
           case when sum(coalesce(octet_length(j.input), 0)) over w <= max_bytes then j.input end,
           j.doc, j.rev + 1, ((j.step >> 4) + 1 << 4) + 1, null::boolean,
           case when lead(j.lane) over w is distinct from j.lane then j.lane end,
           case when lead(j.lane) over w is distinct from j.lane then j.ready_at end
    from joined j window w as (rows unbounded preceding);
end $$;

-- Who calls it: commit, for the endings of owned jobs that touch no key and no body, which is nearly all there is. Index:
-- lease's primary key. Locks: the leases it ends. Answers with the items it could not apply.
-- JSON keys, of groups of jobs that end alike: i ids, r rev before, n not after, v rev after, s step after, a at, z state,
-- e events, p 1 if plain, d doc, o output. Alike are most jobs of a batch; an object per job cost 3 µs more.
create function pawl.settle(items json, jobs bigint[], revs int[], kinds int[], shapes text[])
returns table (now_ms bigint, missed json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  alike record;
  ended int := 0;
  of_these int;
  done bigint[];
  lost bigint[];
begin
  -- Few bytes for many jobs: few groups. A statement for each has nothing to join and carries no words from row to row:
  -- 4.5 instead of 8 µs per job; with hundreds of groups it is the dearer way. It only counts what it did (a list of
  -- them cost 0.25 µs per job): where something is missed all of it is undone and done again by the careful way.
  if octet_length(items::text) < 32 * cardinality(jobs) then
    begin
      for alike in select * from json_to_recordset(items)
          as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text) loop
        with gone as (
          delete from lease l
          where l.id = any(alike.i) and l.rev = alike.r and alike.v > alike.r and alike.s & 15 = 8
            and l.step >> 4 = alike.s >> 4 and (alike.n is null or alike.n > started)
          returning l.id, l.claim, l.step, l.beat
        )
        insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
        select g.id, alike.a, case when g.claim > 0 then g.claim end,
               case when g.claim > 0 then ((g.step >> 4) - 1 << 4) + 7 else g.step end, alike.s, alike.v,
               case when g.claim > 0 then alike.r - 1 else alike.r end - coalesce(beats_in(g.beat), 0),
               alike.z, alike.p is not null, alike.e, alike.o, alike.d, g.beat -> 'p'
        from gone g;
        get diagnostics of_these = row_count;
        ended := ended + of_these;
      end loop;
      if ended < cardinality(jobs) then raise exception using errcode = 'PW002'; end if;
    exception when sqlstate 'PW002' then ended := 0;
    end;
  end if;
  if ended < cardinality(jobs) then
    with x as materialized (
      select u.i, x.r, x.n, x.v, x.s, x.a, x.z, x.e, x.p, x.d, x.o from json_to_recordset(items)
        as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text),
        unnest(x.i) as u(i)
    ), gone as (
      delete from lease l using x
      -- Not `=`: that would allow walking all leases and looking each up among the items, which is what was planned where
      -- the table had been analyzed while it was empty (80 to 130 µs per job beside 1,000 leases).
      where l.id >= x.i and l.id <= x.i and l.rev = x.r and x.v > x.r and x.s & 15 = 8 and l.step >> 4 = x.s >> 4
        and (x.n is null or x.n > started)
      returning l.claim, l.step, l.beat, x.i, x.s, x.v, x.r, x.a, x.z, x.p, x.e, x.o, x.d
    ), closed as (
      insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
      select g.i, g.a, case when g.claim > 0 then g.claim end,
             case when g.claim > 0 then ((g.step >> 4) - 1 << 4) + 7 else g.step end, g.s, g.v,
             case when g.claim > 0 then g.r - 1 else g.r end - coalesce(beats_in(g.beat), 0),
             g.z, g.p is not null, g.e, g.o, g.d, g.beat -> 'p'
      from gone g
    )
    select count(*), array_agg(g.i) into ended, done from gone g;
    if ended < cardinality(jobs) then lost := array(select unnest(jobs) except select unnest(done)); end if;
  end if;
  insert into entry (at, jobs, revs, kinds, shapes, void)
  values (started, jobs, revs, kinds, shapes, lost);
  return query select started, array_to_json(lost);
end $$;
