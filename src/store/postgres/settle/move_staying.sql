-- Moves leased jobs that stay leased, to the same owner: what a handler says while it runs, nearly always. Updating a lease that is at
-- the revision its item says is what compares. Apart from `move_sets`, whose many ways of moving cost a batch of steps more than the
-- steps do. `staying`: the places of its items. Answers as `move_sets` does. JSON keys: those of `move`.
-- Caller: `move`, under whose planner switches it runs. Index: lease's primary key. Locks: the leases, in the order of the jobs;
-- then those of the functions it calls.
create or replace function pawl.move_staying(items json, started bigint, staying int[],
  out places int[], out jobs bigint[], out revs int[], out kinds int[], out shapes text[]) language plpgsql as $$
declare
  wrong text;
  from_revs int[]; requests json[]; by_claims bigint[]; beats jsonb[]; ticks bigint[];
  writing bigint[]; bodies json[]; linking bigint[]; links json[];
begin
  with x as materialized (
    select x.* from rows from (json_to_recordset(items) as (i bigint, r int, n bigint, v int, s bigint, a bigint, e text, p int, d text,
      w text, f int, t bigint, x bigint, bi text, bn int, k int, h text, b json, u json, rq json, ca boolean)) with ordinality
      as x(i, r, n, v, s, a, e, p, d, w, f, t, x, bi, bn, k, h, b, u, rq, ca, place)
    where (x.n is null or x.n > started) and x.place = any(staying)
    order by x.i
  ), was as (
    -- Beside itself, for what it was. Not `=`: that would allow walking all leases.
    update pawl.lease l set claim = -abs(y.claim), expires_at = x.x, rev = x.v, step = x.s, careful = x.ca, tick = x.t, again = null,
      doc = x.d, beat = case when x.bn > 0 then jsonb_build_object('n', x.bn, 'id', x.bi, 'p', '[]'::jsonb) end
    from x, pawl.lease y where l.id >= x.i and l.id <= x.i and l.rev = x.r and y.id >= x.i and y.id <= x.i
    returning x.place, x.i, x.a, x.s, x.v, x.e, x.p, x.f, x.k, x.h, x.b, x.u, x.rq, least(x.t, x.x) as tick, y.claim, y.step, y.beat,
      case when y.claim > 0 then coalesce(y.from_step, {{step.enqueued}}) else y.step end as from_step,
      x.r - coalesce(pawl.beats_in(y.beat), 0) - case when y.claim > 0 then 1 else 0 end as from_rev,
      pawl.is_wrong(y.step, x.s, x.r, x.v, x.w, false) as is_wrong
  ), told as (
    insert into pawl.past (job, at, claim, from_step, to_step, rev, from_rev, plain, events, beats)
    select w.i, w.a, case when w.claim > 0 then w.claim end, w.from_step, w.s, w.v, w.from_rev, w.p is not null, w.e, w.beat -> 'p' from was w
  )
  select array_agg(w.place), array_agg(w.i), array_agg(w.f), array_agg(w.k), array_agg(w.h),
         min(format('job %s may not move from step %s to %s', w.i, w.step, w.s)) filter (where w.is_wrong is not false),
         array_agg(w.from_rev), array_agg(w.rq), array_agg(w.claim), array_agg(w.beat), array_agg(w.tick),
         array_agg(w.i) filter (where w.b is not null), array_agg(w.b) filter (where w.b is not null),
         array_agg(w.i) filter (where w.u is not null), array_agg(w.u) filter (where w.u is not null)
    into places, jobs, revs, kinds, shapes, wrong, from_revs, requests, by_claims, beats, ticks, writing, bodies, linking, links
  from was w;
  if wrong is not null then raise exception using errcode = '23514', message = wrong; end if;
  if jobs is null then return; end if;
  perform pawl.add_asked(jobs, from_revs, requests, by_claims, beats, null);
  perform pawl.tick_earlier(array(select abs(unnest(by_claims))), ticks);
  if writing is not null then perform pawl.add_bodies(writing, bodies); end if;
  if linking is not null then perform pawl.add_links(linking, links); end if;
end $$;
