-- Which of these queues, and of their sides, have flows: claims look for let-in lanes beside theirs.
-- Caller: `sides.ts`. Index: queue_limited. Locks: none.
create or replace function pawl.limited_of(queues int[]) returns int[]
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select array_agg(q.id) from unnest(queues) as a(main)
  cross join lateral (select q.id from queue q where coalesce(q.main, q.id) = a.main and q.limited) q
$$;
