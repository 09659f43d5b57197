-- Small numbers for what jobs share, here queues. Interned on pawl's own connection, before and outside any transaction of a
-- caller. JSON keys: h hash, t tenant, q queue. Answers in order.
-- Caller: `kinds.ts`. Index: queue's hash. Locks: its own rows.
create or replace function pawl.intern_queues(names json) returns json
language plpgsql set search_path = pawl, pg_temp as $$
begin
  insert into queue (hash, tenant, name) select x.h, x.t, x.q from json_to_recordset(names) as x(h text, t text, q text)
  where not exists (select from queue q where q.hash = x.h) on conflict do nothing;
  return (select json_agg(q.id order by x.n) from rows from (json_to_recordset(names) as (h text)) with ordinality as x(h, n)
          join queue q on q.hash = x.h);
end $$;
