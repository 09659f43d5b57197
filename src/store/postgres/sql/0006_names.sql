-- Small numbers for what jobs share. Interned on pawl's own connection, before and outside any transaction of a caller.

-- JSON keys: h hash, t tenant, q queue. Answers in order.
create function pawl.intern_queues(names json) returns json
language plpgsql set search_path = pawl, pg_temp as $$
begin
  insert into queue (hash, tenant, name) select x.h, x.t, x.q from json_to_recordset(names) as x(h text, t text, q text)
  where not exists (select from queue q where q.hash = x.h) on conflict do nothing;
  return (select json_agg(q.id order by x.n) from rows from (json_to_recordset(names) as (h text)) with ordinality as x(h, n)
          join queue q on q.hash = x.h);
end $$;

create function pawl.intern_kind(hash_text text, queue_id int, type_name text, window_length bigint, policy_text text)
returns int language plpgsql set search_path = pawl, pg_temp as $$
begin
  insert into kind (hash, queue, type, window_ms, policy) values (hash_text, queue_id, type_name, window_length, policy_text)
  on conflict (hash) do nothing;
  return (select k.id from kind k where k.hash = hash_text);
end $$;

create function pawl.kinds_by_id(ids int[])
returns table (id int, tenant text, queue text, queue_id int, type text, policy text)
language sql stable set search_path = pawl, pg_temp as $$
  select k.id, q.tenant, q.name, q.id, k.type, k.policy from kind k join queue q on q.id = k.queue where k.id = any(ids)
$$;
