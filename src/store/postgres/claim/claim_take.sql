-- Chooses up to so many jobs that are ready and whose own clock has not run out, lane by lane, each in its order and from a time on where one is given, and locks them. Answers with where they
-- are, who they are, and what is common to them: `touched`, how many are more than enqueued, or careful; `first_tick`, their first clock; `bytes`
-- of their inputs, of untouched ones; `shortest_ms`, the shortest of their leases; `at`, the time of the claim. Nulls: there is none.
-- Caller: `claim`, under whose planner switches it runs. Index: ready's primary key, lane by lane; queue's primary key. Locks: the
-- rows it answers with, SKIP LOCKED.
create or replace function pawl.claim_take(lanes int[], starts bigint[], wanted int, started bigint,
  out tids tid[], out ids bigint[], out lowest bigint, out highest bigint, out first_kind int, out last_kind int,
  out shortest_ms int, out first_tick bigint, out touched bigint, out bytes bigint, out at bigint) language plpgsql as $$
begin
  select array_agg(r.tid), array_agg(r.id), min(r.id), max(r.id), min(r.kind), max(r.kind),
         min(r.window_ms), min(r.tick), count(coalesce(r.rev, r.careful::int)), coalesce(sum(r.bytes), 0),
         -- Nothing happens before what has happened already, should the server's clock have been set back a little.
         greatest(started, max(pawl.updated_at(r.doc)))
    into tids, ids, lowest, highest, first_kind, last_kind, shortest_ms, first_tick, touched, bytes, at
  from (
    select r.* from (
      select a.lane, a.start from unnest(lanes, starts) with ordinality as a(lane, start, n)
      cross join lateral (select from pawl.queue q where q.id = a.lane / {{lane.width}} and not q.paused limit 1) q order by a.n
    ) as a
    cross join lateral (
      select r.ctid as tid, r.id, r.kind, r.window_ms, r.tick, r.rev, r.careful, r.bytes, r.doc from pawl.ready r
      where r.lane = a.lane and r.ready_at >= coalesce(a.start, 0) and r.ready_at <= started and (r.tick is null or r.tick > started)
      order by r.lane, r.ready_at, r.id limit wanted for update skip locked
    ) as r
    limit wanted
  ) as r;
end $$;
