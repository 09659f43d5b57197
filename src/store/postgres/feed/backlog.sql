-- Since when the oldest claimable job of each queue has waited, which no held one is: as many steps as there are lanes with something in them, `lanes` at
-- most. Steps read the index alone; since when a job of a let-in lane has waited is in its row.
-- Caller: `feed.ts`. Index: ready's primary key, lane by lane. Locks: none.
create or replace function pawl.backlog(lanes int) returns table (tenant text, name text, since bigint)
language sql volatile rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  with recursive firsts as (
    (select r.lane, r.ready_at, r.id, 1 as n from ready r where r.lane > 0 order by r.lane, r.ready_at, r.id limit 1)
    union all
    select f.lane, f.ready_at, f.id, p.n + 1 from firsts p
    cross join lateral (select r.lane, r.ready_at, r.id from ready r where r.lane > p.lane order by r.lane, r.ready_at, r.id limit 1) f
    where p.n < lanes
  )
  select q.tenant, q.name, min(w.since) from firsts f
  cross join lateral (
    select coalesce(r.held_at, r.ready_at) as since from ready r
    where r.lane = f.lane and r.ready_at = f.ready_at and r.id = f.id limit 1
  ) w
  cross join lateral (select q.* from queue q where q.id = f.lane % {{lane.letIn}} / {{lane.width}} limit 1) q
  where w.since <= clock() group by q.tenant, q.name
$$;
