-- Moves jobs together, each if it still stands where its item says at the revision its item says: taking it from there is what
-- compares. Left out are the items at the places `but`, and what is too late; `ended`: jobs that have ended and are held so.
-- Answers with the places of what has moved, and what the feed is to be told of it. JSON keys: those of `move`.
-- Caller: `move`, `move_keyed`. Index: the primary keys of every place. Locks: the jobs' rows where they stand, in the order of the
-- jobs: of leases, `ready`, `rest`; then those of the functions it calls.
create or replace function pawl.move_sets(items json, started bigint, ended bigint[], but int[],
  out places int[], out jobs bigint[], out revs int[], out kinds int[], out shapes text[]) language plpgsql as $$
declare
  wrong text;
  from_revs int[]; requests json[]; by_claims bigint[]; beats jsonb[]; ends int[];
  claims bigint[]; ticks bigint[]; writing bigint[]; bodies json[]; linking bigint[]; links json[];
  giving bigint[]; givers text[]; keys json[];
begin
  with x as materialized (
    select x.*, case when x.c is not null then nextval('pawl.claim_id_seq') end as granted
    from rows from (json_to_recordset(items) as (
      i bigint, r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, q text, w text, f int,
      ra bigint, l int, t bigint, x bigint, bi text, bn int, k int, lw int, h text, tn text, g json, b json, u json, c json,
      rq json, ca boolean, jd bigint)) with ordinality
      as x(i, r, n, v, s, a, z, e, p, d, o, q, w, f, ra, l, t, x, bi, bn, k, lw, h, tn, g, b, u, c, rq, ca, jd, place)
    where (x.n is null or x.n > started) and (but is null or x.place <> all(but))
    order by x.i
  ), let_go as (
    -- Not `=`, here and below: that would allow walking all that stands there.
    delete from pawl.lease l using x where x.q = 'l' and l.id >= x.i and l.id <= x.i and l.rev = x.r
    returning x.*, l.claim, l.step, l.from_step, l.beat, null::int as end_rev, null::int as lane, null::bigint as ready_at, null::bigint as held_at
  ), unqueued as (
    delete from pawl.ready r using x where x.q = 'r' and r.id >= x.i and r.id <= x.i and coalesce(r.rev, 1) = x.r
    returning x.*, null::bigint, coalesce(r.step, {{step.enqueued}}), null::bigint, null::jsonb, null::int, r.lane, r.ready_at, r.held_at
  ), woken as (
    delete from pawl.rest r using x where x.q = 's' and r.id >= x.i and r.id <= x.i and coalesce(r.rev, 1) = x.r
    returning x.*, null::bigint, coalesce(r.step, 0), null::bigint, null::jsonb, null::int, null::int, null::bigint, null::bigint
  ), was as materialized (
    select w.*, pawl.is_wrong(w.step, w.s, w.r, w.v, w.w, w.c is not null) as is_wrong, coalesce(-w.granted, w.claim) as by,
           w.r - coalesce(pawl.beats_in(w.beat), 0) - case when w.granted is null and w.claim > 0 then 1 else 0 end as from_rev
    from (
      select * from let_go union all select * from unqueued union all select * from woken
      union all select x.*, null, p.to_step, null, null, p.from_rev, null, null, null from x cross join lateral (
        select p.to_step, p.from_rev from pawl.past p where p.job = x.i and p.from_rev < x.r order by p.job, p.from_rev desc limit 1
      ) p where x.q = 'p' and x.i = any(ended)
    ) as w
  ), grants as (
    insert into pawl.claim (id, request, worker, actor, nonce, at, tick, refs, jobs) overriding system value
    select w.granted, 'commit/' || w.i || '/' || w.v, c.w, c.a, c.n, c.t, least(w.t, w.x), 1, array[w.i]
    from was w cross join lateral json_to_record(w.c) as c(w text, a text, n text, t bigint) where w.granted is not null
  ), told as (
    insert into pawl.past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
    select w.i, w.a, case when w.by > 0 or w.granted is not null then w.by end,
           case when w.by > 0 then coalesce(w.from_step, {{step.enqueued}}) else w.step end, w.s, w.v, w.from_rev,
           w.z, w.p is not null, w.e, w.o, case when w.w = 'p' then w.d end, w.beat -> 'p' from was w
  ), into_ready as (
    insert into pawl.ready (id, ready_at, lane, held_at, window_ms, kind, rev, step, careful, tick, doc)
    select w.i, case when w.l is null then w.ready_at else w.ra end, coalesce(w.l, w.lane), case when w.l is null then w.held_at end, w.lw, w.k, w.v, w.s, w.ca, w.t, w.d from was w where w.w = 'r'
  ), into_rest as (
    insert into pawl.rest (id, rev, step, tick, judge, doc) select w.i, w.v, w.s, w.t, w.jd, w.d from was w where w.w = 's'
  ), into_lease as (
    insert into pawl.lease (id, claim, expires_at, rev, step, careful, tick, doc, beat)
    select w.i, -abs(w.by), w.x, w.v, w.s, w.ca, w.t, w.d,
           case when w.bn > 0 then jsonb_build_object('n', w.bn, 'id', w.bi, 'p', '[]'::jsonb) end from was w where w.w = 'l'
  )
  select array_agg(w.place), array_agg(w.i), array_agg(w.f), array_agg(w.k), array_agg(w.h),
         min(format('job %s may not move from step %s to %s', w.i, w.step, w.s)) filter (where w.is_wrong is not false),
         array_agg(w.from_rev), array_agg(w.rq), array_agg(case when w.w <> 'p' then w.by end),
         array_agg(case when w.w <> 'p' then w.beat end), array_agg(w.end_rev),
         array_agg(abs(w.by)) filter (where w.q = 'l' and w.w = 'l'), array_agg(least(w.t, w.x)) filter (where w.q = 'l' and w.w = 'l'),
         array_agg(w.i) filter (where w.b is not null), array_agg(w.b) filter (where w.b is not null),
         array_agg(w.i) filter (where w.u is not null), array_agg(w.u) filter (where w.u is not null),
         array_agg(w.i) filter (where w.g is not null), array_agg(w.tn) filter (where w.g is not null),
         array_agg(w.g) filter (where w.g is not null)
    into places, jobs, revs, kinds, shapes, wrong, from_revs, requests, by_claims, beats, ends, claims, ticks, writing, bodies,
         linking, links, giving, givers, keys
  from was w;
  if wrong is not null then raise exception using errcode = '23514', message = wrong; end if;
  if jobs is null then return; end if;
  perform pawl.add_asked(jobs, from_revs, requests, by_claims, beats, ends);
  if claims is not null then perform pawl.tick_earlier(claims, ticks); end if;
  if writing is not null then perform pawl.add_bodies(writing, bodies); end if;
  if linking is not null then perform pawl.add_links(linking, links); end if;
  if giving is not null then perform pawl.give_keys(giving, givers, keys); end if;
end $$;
