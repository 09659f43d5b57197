-- Small numbers for what jobs share, here queues and their sides. Interned on pawl's own connection, before and outside any
-- transaction of a caller. JSON keys: h hash, t tenant, q queue; of a side besides n what its jobs need, m its queue's hash.
-- Answers in order. A side is made under the lock of its queue: it is paused if that is, whenever that happens, and the numbers
-- of one queue's sides ascend in the order in which they can be seen.
-- Caller: `kinds.ts`. Index: queue's hash. Locks: its own rows, and the queues of new sides.
create or replace function pawl.intern_queues(names json) returns json
language plpgsql set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
declare
  side record;
begin
  insert into queue (hash, tenant, name) select x.h, x.t, x.q from json_to_recordset(names) as x(h text, t text, q text, n text)
  where x.n is null and (select q.id from queue q where q.hash = x.h) is null on conflict do nothing;
  for side in select x.* from json_to_recordset(names) as x(h text, n text, m text)
              where x.n is not null and (select q.id from queue q where q.hash = x.h) is null order by x.m loop
    perform from queue q where q.hash = side.m for no key update;
    insert into queue (hash, tenant, name, paused, main, needs) select side.h, q.tenant, q.name, q.paused, q.id, side.n
    from queue q where q.hash = side.m on conflict do nothing;
  end loop;
  return (select json_agg(q.id order by x.n) from rows from (json_to_recordset(names) as (h text)) with ordinality as x(h, n)
          cross join lateral (select q.id from queue q where q.hash = x.h limit 1) q);
end $$;
