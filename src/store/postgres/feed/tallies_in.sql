-- As `tallies`, in queues of one name: of one tenant, or of all.
-- Caller: `feed.ts`. Index: queue_name, kind_queue, tally's primary key. Locks: none.
create or replace function pawl.tallies_in(queue_name text, tenant_name text) returns table (kind int, state text, count bigint)
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select t.kind, t.state::text, t.count from queue q
  cross join lateral (select k.id from kind k where k.queue = q.id offset 0) k
  cross join lateral (select t.* from tally t where t.kind = k.id offset 0) t
  where md5(q.name) = md5(queue_name) and q.name = queue_name and (tenant_name is null or q.tenant = tenant_name) and t.count <> 0
$$;
