-- Gives jobs that are ready to one claimer, lane by lane in the order asked (lanes are different ones). The first row of the
-- answer tells the time, the time of the claim (as step), its nonce (as head), its number if it is a bundle (as doc), whether it
-- is a repetition (as flushed), and whether nothing was found and it is parked now (then it has an id). Then the jobs, in any
-- order: the caller knows the one it asked for. Those of a bundle that are of one kind and lane are one row of columns, unless
-- `as_rows`: who gives them away looks at their ids. What the caller can compute (lease end, attempt, how far a lane was read) is
-- not sent: each column cost 0.1 µs a row.
-- Caller: `claims.ts`, `offer`. Index: ready's primary key, lane by lane; lease's and job's primary keys. Locks: the rows it
-- takes, SKIP LOCKED.
create or replace function pawl.claim(request_id text, request_text text, worker_id text, actor_name text, nonce_text text,
                           lanes int[], starts bigint[], wanted int, max_bytes bigint,
                           was_parked boolean default false, park_ms bigint default null, park_channel text default null,
                           as_rows boolean default false)
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
  parked_as bigint;
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
  -- Theirs, if they are a bundle of one kind and lane.
  one_lane int;
  separator text := E'\x1f' || nonce_text;
  revs int[] := '{ {{rev.claimed}} }';
  shapes text[] := '{ {{claim.shape}} }';
begin
  -- Waits for whoever is answering it just now.
  if was_parked then delete from parked p where p.request = request_id; end if;
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
         min(r.window_ms), min(r.tick), count(coalesce(r.rev, r.careful::int)), sum(r.bytes), min(r.id), max(r.id),
         -- Nothing happens before what has happened already, should the server's clock have been set back a little.
         greatest(started, max(updated_at(r.doc)))
    into tids, ids, kind_ids, last_kind, shortest, first_tick, touched, bytes, lowest, highest, started
  from (
    select r.* from (
      select a.lane, a.start from unnest(lanes, starts) with ordinality as a(lane, start, n)
      join queue q on q.id = a.lane / {{lane.width}} and not q.paused order by a.n
    ) as a
    cross join lateral (
      select r.ctid as tid, r.id, r.kind, r.window_ms, r.tick, r.rev, r.careful, r.bytes, r.doc from ready r
      where r.lane = a.lane and r.ready_at >= a.start and r.ready_at <= started
      order by r.lane, r.ready_at, r.id limit wanted for update skip locked
    ) as r
    limit wanted
  ) as r;
  if ids is null and park_ms > 0 then
    insert into parked (request, request_words, worker, actor, nonce, lanes, wanted, max_bytes, until, channel)
    values (request_id, request_text, worker_id, actor_name, nonce_text, lanes, wanted, max_bytes, started + park_ms, park_channel)
    -- There already: an earlier try that was not answered.
    on conflict (request) do update set nonce = excluded.nonce, until = excluded.until, channel = excluded.channel
    returning parked.id into parked_as;
  end if;
  if ids is not null then
    claim_id := nextval('claim_id_seq');
    bundled := cardinality(ids) >= 16 and touched = 0 and first_tick is null;
    -- They are in the order of their lanes: where the first and the last are in one, all are.
    if bundled and kind_ids[1] = last_kind then
      select a.lane into one_lane from ready a join ready z on z.lane = a.lane
      where a.ctid = tids[1] and z.ctid = tids[cardinality(tids)];
    end if;
  end if;
  id := parked_as; created_at := started; head := nonce_text; step := started; flushed := false;
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
    from (select u.n, coalesce(r.rev, 1) + 1 as rev, case coalesce(r.step, {{step.enqueued}}) & {{mask.rank}} {{claim.shapes}} end as shape
          from unnest(tids) with ordinality as u(tid, n) join ready r on r.ctid = u.tid) as r;
  end if;
  if bundled then delete from ready r where r.ctid = any(tids);
  else
    with gone as (
      delete from ready r where r.ctid = any(tids)
      -- `leaseEnd` of core/timers.ts, which the caller computes again: sending it cost more.
      returning r.id, started + r.window_ms as expires_at, r.rev, r.step, r.careful, r.tick, r.doc
    )
    insert into lease (id, claim, expires_at, rev, step, from_step, careful, tick, doc)
    select r.id, claim_id, r.expires_at, coalesce(r.rev, 1) + 1,
           ((coalesce(r.step, {{step.enqueued}}) >> {{bits.attempt}}) + 1 << {{bits.attempt}}) + {{rank.claimed}},
           r.step, r.careful, r.tick, r.doc
    from gone r;
  end if;
  insert into claim (id, request, request_words, worker, actor, nonce, at, tick, refs, jobs, low, high, open)
  overriding system value
  values (claim_id, request_id, request_text, worker_id, actor_name, nonce_text, started,
          least(first_tick, started + shortest), cardinality(ids), ids, case when bundled then lowest end,
          case when bundled then highest end, case when bundled then cardinality(ids) end);
  insert into entry (at, claim, jobs, revs, kinds, shapes)
  values (started, claim_id, '{}', revs, kind_ids, shapes);

  -- Texts joined by what cannot be in them (claim-rows.ts): as JSON they cost 0.9 µs a job more, and numbers that are all
  -- the same 0.1 each. Whoever cuts one out and keeps it keeps all of them in memory: not where they are long.
  if one_lane is not null and bytes <= least(max_bytes, 262144) and not as_rows then
    return query select null::bigint, null::bigint, last_kind, one_lane,
             string_agg(coalesce(j.head, E'\x01'), separator),
             string_agg(coalesce(j.input, E'\x01'), separator),
             concat(array_agg(j.id), array_agg(j.created_at)), null::bigint, null::boolean
      from job j where j.id = any(ids);
  elsif touched = 0 and bytes <= max_bytes then
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
