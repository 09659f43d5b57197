-- Which of these queues, and of their sides, have flows: claims look for let-in lanes beside theirs.
-- Caller: `sides.ts`. Index: queue_limited. Locks: none.
create or replace function pawl.limited_of(queues int[]) returns int[]
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off as $$
  select array_agg(q.id) from unnest(queues) as a(main)
  -- As a range, and in this order, only `queue_limited` can answer it. With `=`, or in no order, a plan that was made while there
  -- were few queues walks all of them for ever.
  cross join lateral (
    select q.id from queue q where coalesce(q.main, q.id) >= a.main and coalesce(q.main, q.id) <= a.main and q.limited
    order by coalesce(q.main, q.id)
  ) q
$$;
