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
-- Columns as arrays. Of all but `jobs`, one element stands for all of them and none for null; `readies` null: claimable
-- when created; `pending` 1: not claimable. Arrays taken apart in the select list are stored nowhere in between: 0.7 µs a
-- job less than one WITH that all tables are filled from. Slices of them for groups of jobs that are born alike cost the
-- same where all were (4.2 and 4.1 µs).
create function pawl.insert_plain(jobs bigint[], inputs text[], heads text[], times bigint[], kinds int[], lanes int[],
                                  windows int[], correlations text[], marks text[], readies bigint[], ticks bigint[],
                                  pending int[], shapes text[]) returns bigint
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' as $$
declare
  now_ms bigint := clock();
  -- For all of them, or null.
  b1 text := case when cardinality(inputs) = 1 then inputs[1] end;
  h1 text := case when cardinality(heads) = 1 then heads[1] end;
  t1 bigint := times[1];
  k1 int := kinds[1];
  l1 int := lanes[1];
  w1 int := windows[1];
  c1 text := case when cardinality(correlations) = 1 then correlations[1] end;
  m1 text := case when cardinality(marks) = 1 then marks[1] end;
  r1 bigint := case when cardinality(readies) = 1 then readies[1] end;
  n1 bigint := case when cardinality(ticks) = 1 then ticks[1] end;
  p1 int := case when cardinality(pending) = 1 then pending[1] end;
begin
  insert into job (id, created_at, kind, lane, input, head, correlation, marks)
  select i, coalesce(t, t1), coalesce(k, k1), coalesce(l, l1), coalesce(b, b1), coalesce(h, h1), coalesce(c, c1),
         coalesce(m, m1)::text[]
  from (select unnest(jobs) as i, unnest(inputs) as b, unnest(heads) as h, unnest(times) as t, unnest(kinds) as k,
               unnest(lanes) as l, unnest(correlations) as c, unnest(marks) as m) as x;
  insert into ready (id, ready_at, lane, window_ms, kind, bytes, tick)
  select i, coalesce(r, r1, t, t1), coalesce(l, l1), coalesce(w, w1), coalesce(k, k1),
         coalesce(octet_length(coalesce(b, b1)), 0), coalesce(n, n1)
  from (select unnest(jobs) as i, unnest(inputs) as b, unnest(times) as t, unnest(kinds) as k, unnest(lanes) as l,
               unnest(windows) as w, unnest(readies) as r, unnest(ticks) as n, unnest(pending) as p) as x
  where coalesce(p, p1) is null;
  if pending <> '{}' then
    insert into rest (id, tick) select i, coalesce(n, n1)
    from (select unnest(jobs) as i, unnest(ticks) as n, unnest(pending) as p) as x where coalesce(p, p1) = 1;
  end if;
  insert into entry (at, jobs, revs, kinds, shapes) values (now_ms, jobs, '{1}', kinds, shapes);
  return now_ms;
end $$;

-- Gives jobs of a bundle leases of their own. Locks: the bundle, alone: whoever ends jobs of it just now is waited for.
-- Each job is looked up by itself: a plan made while the tables were empty would walk them for each of them.
create function pawl.loosen_from(claim_id bigint, ids bigint[]) returns void
language plpgsql set search_path = pawl, pg_temp set plan_cache_mode = force_generic_plan
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  it claim%rowtype;
  loosened int;
begin
  -- What others did before they let go must be seen, and would not be in an older snapshot.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = '40001', message = 'jobs claimed together can be parted in a READ COMMITTED transaction only';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('pawl.claim', claim_id));
  select * into it from claim c where c.id = claim_id and c.low is not null for update;
  if not found then return; end if;
  insert into lease (id, claim, expires_at, rev, step)
  select u.id, claim_id, it.at + k.window_ms, 2, 17 from (select unnest(ids) except select unnest(it.loose)) as u(id)
  cross join lateral (select j.kind from job j where j.id = u.id limit 1) j
  cross join lateral (select k.window_ms from kind k where k.id = j.kind limit 1) k
  left join lateral (select p.job from past p where p.job = u.id limit 1) p on true
  where p.job is null;
  get diagnostics loosened = row_count;
  -- Of all of them nothing is left, also where some had ended and were not counted.
  if cardinality(ids) = cardinality(it.jobs) then loosened := it.open; end if;
  update claim c set loose = array(select unnest(it.loose) union select unnest(ids)), open = nullif(c.open - loosened, 0),
    low = case when c.open > loosened then c.low end, high = case when c.open > loosened then c.high end
  where c.id = claim_id;
end $$;

-- Who calls it: whoever is about to look for leases. Index: lease's primary key, claim_bundle; the open bundles are as
-- many as there are big claims under way. A few at a time leave the others together, for they may all end without having
-- been heard of; where one job of a bundle after the other is asked for, parting them one by one is the dearer way (a third
-- of a core for 10,000 running jobs), and of those that live long enough for heartbeats (`all_of_them`) all will be.
create function pawl.loosen(ids bigint[], all_of_them boolean default false) returns void
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off set enable_seqscan = off as $$
declare
  c record;
  of_it bigint[];
begin
  ids := array(select u.id from unnest(ids) as u(id)
               left join lateral (select l.id from lease l where l.id = u.id limit 1) l on true where l.id is null);
  for c in select k.id, k.jobs, k.loose from claim k where k.low is not null and k.low <= (select max(u) from unnest(ids) as u)
      and k.high >= (select min(u) from unnest(ids) as u) order by k.id loop
    of_it := array(select unnest(ids) intersect select unnest(c.jobs) except select unnest(c.loose));
    continue when cardinality(of_it) = 0;
    perform loosen_from(c.id, case when all_of_them or cardinality(c.loose || of_it) > 16 then c.jobs else of_it end);
  end loop;
end $$;

-- Who calls it: claim. Index: ready's primary key, lane by lane; lease and job by primary key. Locks: the rows it takes,
-- SKIP LOCKED. The first row of the answer tells the time, the time of the claim (as step), its nonce (as head), its number if
-- it is a bundle (as doc), whether it is a repetition (as flushed), and whether nothing was found and it stands now (then
-- it has an id). Then the jobs, in any order: the caller knows the one it asked for. What the caller can compute (lease
-- end, attempt, how far a lane was read) is not sent: each column cost 0.1 µs a row.
create function pawl.claim(request_id text, request_text text, worker_id text, actor_name text, nonce_text text,
                           lanes int[], starts bigint[], wanted int, max_bytes bigint,
                           stood boolean default false, stand_ms bigint default null, stand_wanted int default null,
                           stand_channel text default null)
returns table (id bigint, created_at bigint, kind int, lane int, head text, input text, doc text, step bigint,
               flushed boolean)
language plpgsql rows 500
set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_incremental_sort = off set enable_material = off set plan_cache_mode = force_generic_plan as $$
declare
  claim_id bigint;
  claimed_at bigint;
  claim_nonce text;
  stands_as bigint;
  started bigint := clock();
  tids tid[];
  ids bigint[];
  lowest bigint;
  highest bigint;
  kind_ids int[];
  last_kind int;
  shortest int;
  first_tick bigint;
  touched bigint;
  bytes bigint;
  -- Few jobs have leases at once: a bundle would cost them more than it saves.
  bundled boolean;
  revs int[] := '{2}';
  shapes text[] := '{qcc}';
begin
  -- Waits for whoever is answering it just now.
  if stood then delete from standing s where s.request = request_id; end if;
  select c.id, c.at, c.nonce into claim_id, claimed_at, claim_nonce from claim c where c.request = request_id;
  if claim_id is not null then
    perform loosen_from(c.id, c.jobs) from claim c where c.id = claim_id and c.low is not null;
    return query select null::bigint, started, null::int, null::int, claim_nonce, null::text, null::text, claimed_at, true;
    -- Where nothing of it is left the answer is empty: the number is taken, and nobody gets anything new under it.
    return query select l.id, j.created_at, j.kind, j.lane, j.head,
             case when sum(coalesce(octet_length(j.input), 0)) over (order by u.n) <= max_bytes then j.input end,
             l.doc, l.step, l.claim < 0
      from claim c cross join lateral unnest(c.jobs) with ordinality as u(job, n)
      join lease l on l.id = u.job and abs(l.claim) = c.id and l.expires_at > started
      join job j on j.id = l.id
      where c.id = claim_id order by u.n;
    return;
  end if;

  -- Statements that hand each other arrays: as one statement, whose parts read each other's rows, it cost 1.1 µs more
  -- per job, and 2.0 with running sums.
  select array_agg(r.tid), array_agg(r.id), array[min(r.kind)], max(r.kind),
         min(r.window_ms), min(r.tick), count(r.rev), sum(r.bytes), min(r.id), max(r.id)
    into tids, ids, kind_ids, last_kind, shortest, first_tick, touched, bytes, lowest, highest
  from (
    select r.* from (
      select a.lane, a.start from unnest(lanes, starts) with ordinality as a(lane, start, n)
      join queue q on q.id = a.lane / 10 and not q.paused order by a.n
    ) as a
    cross join lateral (
      select r.ctid as tid, r.id, r.kind, r.window_ms, r.tick, r.rev, r.bytes from ready r
      where r.lane = a.lane and r.ready_at >= a.start and r.ready_at <= started
      order by r.lane, r.ready_at, r.id limit wanted for update skip locked
    ) as r
    limit wanted
  ) as r;
  if ids is null and stand_ms > 0 then
    insert into standing (request, request_words, worker, actor, nonce, lanes, wanted, max_bytes, until, channel)
    values (request_id, request_text, worker_id, actor_name, nonce_text, lanes, stand_wanted, max_bytes, started + stand_ms,
            stand_channel)
    -- There already: an earlier try that was not answered.
    on conflict (request) do update set nonce = excluded.nonce, until = excluded.until, channel = excluded.channel
    returning standing.id into stands_as;
  end if;
  if ids is not null then
    claim_id := nextval('claim_id_seq');
    bundled := cardinality(ids) >= 16 and touched = 0 and first_tick is null;
  end if;
  id := stands_as; created_at := started; head := nonce_text; step := started; flushed := false;
  doc := case when bundled then claim_id end;
  return next;
  if ids is null then return; end if;

  -- Where they are not all alike they are looked at once more.
  if kind_ids[1] < last_kind then
    kind_ids := array(select r.kind from unnest(tids) with ordinality as u(tid, n) join ready r on r.ctid = u.tid order by u.n);
  end if;
  if touched > 0 then
    select case when min(r.rev) = max(r.rev) then array[min(r.rev)] else array_agg(r.rev order by r.n) end,
           case when min(r.shape) = max(r.shape) then array[min(r.shape)] else array_agg(r.shape order by r.n) end
      into revs, shapes
    from (select u.n, coalesce(r.rev, 1) + 1 as rev, case r.step & 15 when 5 then 'lcc' when 6 then 'tcc' else 'qcc' end as shape
          from unnest(tids) with ordinality as u(tid, n) join ready r on r.ctid = u.tid) as r;
  end if;
  if bundled then delete from ready r where r.ctid = any(tids);
  else
    with gone as (
      delete from ready r where r.ctid = any(tids)
      returning r.id, started + r.window_ms as expires_at, r.rev, r.step, r.tick, r.doc
    )
    insert into lease (id, claim, expires_at, rev, step, tick, doc)
    select r.id, claim_id, r.expires_at, coalesce(r.rev, 1) + 1, ((coalesce(r.step, 7) >> 4) + 1 << 4) + 1,
           r.tick, r.doc
    from gone r;
  end if;
  insert into claim (id, request, request_words, worker, actor, nonce, at, tick, refs, jobs, low, high, open)
  overriding system value
  values (claim_id, request_id, request_text, worker_id, actor_name, nonce_text, started,
          least(first_tick, started + shortest), cardinality(ids), ids, case when bundled then lowest end,
          case when bundled then highest end, case when bundled then cardinality(ids) end);
  insert into entry (at, claim, jobs, revs, kinds, shapes)
  values (started, claim_id, '{}', revs, kind_ids, shapes);

  if touched = 0 and bytes <= max_bytes then
    return query select j.id, j.created_at, j.kind, j.lane, j.head, j.input, null::text, null::bigint, null::boolean
      from job j where j.id = any(ids);
  else
    -- One index look-up per row: joined, a plan made while the table was empty walked the whole index for each of them
    -- (250 to 800 ms for a claim of 500 beside 4,000 jobs).
    return query select j.id, j.created_at, j.kind, j.lane, j.head,
             case when sum(coalesce(octet_length(j.input), 0)) over (order by u.n) <= max_bytes then j.input end,
             l.doc, null::bigint, null::boolean
      from unnest(ids) with ordinality as u(id, n)
      cross join lateral (select j.* from job j where j.id = u.id limit 1) j
      left join lateral (select l.doc from lease l where l.id = u.id limit 1) l on true
      order by u.n;
  end if;
end $$;

-- Who calls it: whoever begins to listen. One call, so that the name of its channel is in nobody's statistics; the lock
-- is held for as long as somebody is there, and what is said to oneself at once shows that one hears.
create function pawl.hear(channel_name text) returns void
language plpgsql set search_path = pawl, pg_temp as $$
begin
  execute format('listen %I', channel_name);
  perform pg_advisory_lock(hashtextextended(channel_name, 0)), pg_notify(channel_name, '');
end $$;

-- Who calls it: insert, in the commit that makes the jobs, instead of telling everybody. Where a claim stands for them it
-- is answered here and now, by the very function that claims: in order, and what is older first. Who made it is told on
-- its own channel, with all there is to know where that fits; everybody else only if something is left for them. True:
-- nothing is. Index: standing's primary key, from its end, a bounded part of it: with a snapshot held open elsewhere all
-- that ever stood would have to be walked. Not for many at a time: they are the producer's to write, not to hand out. Locks: the claim it answers, SKIP LOCKED. Whoever listens holds a lock; where
-- it can be had there is nobody any more.
create function pawl.offer(for_lane int, born bigint[], channel_name text, all_told text, rest_told text) returns boolean
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  it standing%rowtype;
  given json;
  taken bigint[];
  words text;
begin
  select * into it from standing s
  where s.id > (select q.last_value - 256 from standing_id_seq q) and s.until > started and s.lanes @> array[for_lane]
    and not pg_try_advisory_xact_lock_shared(hashtextextended(s.channel, 0))
  order by s.id desc limit 1 for update skip locked;
  if found and cardinality(born) <= 16 then
    select json_agg(json_build_array(c.id, c.created_at, c.kind, c.lane, c.head, c.input, c.doc, c.step, c.flushed)),
           array_agg(c.id)
      into given, taken
    from claim(it.request, it.request_words, it.worker, it.actor, it.nonce, array[for_lane], '{0}',
               it.wanted, least(it.max_bytes, 6000)) as c;
    if cardinality(taken) > 1 then
      delete from standing where standing.id = it.id;
      words := json_build_array(it.request, given);
      perform pg_notify(it.channel, case when octet_length(words) < 8000 then words else json_build_array(it.request)::text end);
      if taken @> born then
        if rest_told is not null then perform pg_notify(channel_name, rest_told); end if;
        return true;
      end if;
    end if;
  end if;
  perform pg_notify(channel_name, all_told);
  return false;
end $$;

-- Who calls it: settle, where jobs end in many ways, or where some may not end at all. One statement, in which each item
-- stands for itself. Answers with the jobs it has ended.
create function pawl.settle_each(items json, started bigint) returns bigint[]
language plpgsql set search_path = pawl, pg_temp set jit = off set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare done bigint[];
begin
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
  select array_agg(g.i) into done from gone g;
  return coalesce(done, '{}');
end $$;

-- The same for jobs in bundles, whose locks the caller has. Answers with how many, of which bundle. A hash join whatever
-- is thought of the sizes: nested, each item would be looked for among all jobs of its bundle. (Lists are taken apart by
-- the selection, not by a join: where one join must be nested, another one may be as well.)
create function pawl.settle_each_bundled(items json, bundles bigint[], started bigint)
returns table (bundle bigint, jobs int)
language plpgsql set search_path = pawl, pg_temp set jit = off set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off set enable_hashjoin = on as $$
begin
  return query
  with x as materialized (
    select unnest(x.i) as i, x.r, x.n, x.v, x.s, x.a, x.z, x.e, x.p, x.d, x.o, x.c from json_to_recordset(items)
      as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, c bigint)
  ), ours as materialized (
    select k.id as claim, unnest(k.jobs) as job from claim k where k.id = any(bundles) and k.low is not null
    except select k.id, unnest(k.loose) from claim k where k.id = any(bundles)
  ), closed as (
    insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
    select x.i, x.a, x.c, 7, x.s, x.v, 1, x.z, x.p is not null, x.e, x.o, x.d
    from x join ours o on o.claim = x.c and o.job = x.i
    where x.r = 2 and x.v > 2 and x.s & 15 = 8 and x.s >> 4 = 1 and (x.n is null or x.n > started)
    returning past.claim
  )
  select c.claim, count(*)::int from closed c group by c.claim;
end $$;

-- Who calls it: commit, for the endings of owned jobs that touch no key and no body, which is nearly all there is. Index:
-- lease's and claim's primary keys. Locks: bundles, shared, and the leases it ends. Answers with the items it could not
-- apply. JSON keys, of groups of jobs that end alike: i ids, r rev before, n not after, v rev after, s step after, a at,
-- z state, e events, p 1 if plain, d doc, o output, c the bundle they were claimed in. Alike are most jobs of a batch; an
-- object per job cost 3 µs more. `bundles`: all of them, in order. `uncounted`: bundles whose row somebody else had; the
-- caller has them counted (`pawl.recount`) when this is done.
create function pawl.settle(items json, jobs bigint[], revs int[], kinds int[], shapes text[], bundles bigint[] default null)
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
begin
  if current_setting('transaction_isolation') <> 'read committed' then bundles := null; end if;
  -- It only counts what it did: where something is missed all of it is undone and done again by the careful way.
  if few_groups or bundles is not null then
    begin
      if bundles is not null then
        -- Whoever has one alone is about to commit, however slow the disk: breaking up a batch for that made 500 commits of one.
        perform set_config('lock_timeout', '5s', true);
        perform pg_advisory_xact_lock_shared(hashtextextended('pawl.claim', u.id)) from unnest(bundles) as u(id);
        perform set_config('lock_timeout', '100ms', true);
      end if;
      if few_groups then
        for alike in select * from json_to_recordset(items)
            as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, c bigint) loop
          of_these := 0;
          if alike.c is not null and alike.r = 2 and alike.v > 2 and alike.s & 15 = 8 and alike.s >> 4 = 1
             and (alike.n is null or alike.n > started) then
            select k.jobs, k.loose into bundle from claim k where k.id = alike.c and k.low is not null;
            insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
            select u.id, alike.a, alike.c, 7, alike.s, alike.v, 1, alike.z, alike.p is not null, alike.e, alike.o, alike.d
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
    if cardinality(done) < cardinality(jobs) and exists (select from claim k where k.low is not null) then
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

-- Who calls it: commit, after ends that were not counted. Locks: the claims. What ends just now is not seen yet and counts
-- itself, or comes back here.
create function pawl.recount(bundles bigint[]) returns void
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
