-- Sides of queues with numbers behind those that are known.
-- Caller: `sides.ts`. Index: queue_side. Locks: none.
create or replace function pawl.sides(queues int[], lasts int[]) returns table (id int, main int, needs text)
language sql stable rows 10 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select q.id, q.main, q.needs from unnest(queues, lasts) as a(main, last)
  cross join lateral (select s.* from queue s where s.main = a.main and s.id > a.last order by s.main, s.id) q
$$;
