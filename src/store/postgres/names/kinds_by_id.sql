-- Kinds by their numbers, with the queues they belong to.
-- Caller: `kinds.ts`. Index: kind's and queue's primary keys. Locks: none.
create or replace function pawl.kinds_by_id(ids int[])
returns table (id int, tenant text, queue text, queue_id int, type text, policy text)
language sql stable set search_path = pawl, pg_temp as $$
  select k.id, q.tenant, q.name, q.id, k.type, k.policy from kind k join queue q on q.id = k.queue where k.id = any(ids)
$$;
