-- Kinds by their numbers, with the queues they belong to.
-- Caller: `kinds.ts`. Index: kind's and queue's primary keys. Locks: none.
create or replace function pawl.kinds_by_id(ids int[])
returns table (id int, tenant text, queue text, queue_id int, type text, policy text)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select k.id, q.tenant, q.name, q.id, k.type, k.policy from kind k
  cross join lateral (select q.* from queue q where q.id = k.queue limit 1) q where k.id = any(ids)
$$;
