-- As `claim_take`, one lane after the other: of those that are limited `free` jobs in all.
-- Caller: `claim_limited`, under whose planner switches it runs. Index: ready's primary key, lane by lane; queue's primary key. Locks:
-- the rows it answers with, SKIP LOCKED.
create or replace function pawl.claim_take_limited(lanes int[], starts bigint[], wanted int, free int, started bigint,
  out tids tid[], out ids bigint[], out first_kind int, out last_kind int, out shortest_ms int, out first_tick bigint, out touched bigint,
  out at bigint) language plpgsql as $$
declare
  found record;
  most int;
  found_ones record;
begin
  at := started;
  touched := 0;
  -- Lanes with nothing, as most are, by one statement: walked one by one they cost a claim of ten priorities more than its jobs did.
  for found in
    select a.lane, a.start, a.lane > {{lane.letIn}} as is_limited from unnest(lanes, starts) with ordinality as a(lane, start, n)
    cross join lateral (select from pawl.queue q where q.id = a.lane % {{lane.letIn}} / {{lane.width}} and not q.paused limit 1) q
    cross join lateral (select from pawl.ready r where r.lane = a.lane and r.ready_at >= coalesce(a.start, 0) and r.ready_at <= started limit 1) r
    order by a.n
  loop
    most := wanted - coalesce(cardinality(ids), 0);
    exit when most <= 0;
    if found.is_limited then most := least(most, free); end if;
    continue when most <= 0;
    select array_agg(r.tid) as tids, array_agg(r.id) as ids, min(r.kind) as first_kind, max(r.kind) as last_kind, min(r.window_ms) as shortest_ms,
           min(r.tick) as first_tick, count(coalesce(r.rev, r.careful::int)) as touched, max(pawl.updated_at(r.doc)) as at
      into found_ones
    from (
      select r.ctid as tid, r.id, r.kind, r.window_ms, r.tick, r.rev, r.careful, r.doc from pawl.ready r
      where r.lane = found.lane and r.ready_at >= coalesce(found.start, 0) and r.ready_at <= started and (r.tick is null or r.tick > started)
      order by r.lane, r.ready_at, r.id limit most for update skip locked
    ) as r;
    continue when found_ones.ids is null;
    if found.is_limited then free := free - cardinality(found_ones.ids); end if;
    tids := tids || found_ones.tids; ids := ids || found_ones.ids;
    first_kind := least(first_kind, found_ones.first_kind); last_kind := greatest(last_kind, found_ones.last_kind);
    shortest_ms := least(shortest_ms, found_ones.shortest_ms); first_tick := least(first_tick, found_ones.first_tick);
    touched := touched + found_ones.touched; at := greatest(at, found_ones.at);
  end loop;
end $$;
