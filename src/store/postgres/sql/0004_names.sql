-- Small numbers for what jobs share. Interned on pawl's own connection, before and outside any transaction of a caller.

create function pawl.intern_queues(names json) returns table (tenant text, name text, id int)
language plpgsql set search_path = pawl, pg_temp as $$
#variable_conflict use_column
begin
  insert into queue (tenant, name) select x.t, x.q from json_to_recordset(names) as x(t text, q text)
  where not exists (select from queue q where q.tenant = x.t and q.name = x.q)
  on conflict do nothing;
  return query select q.tenant, q.name, q.id
    from json_to_recordset(names) as x(t text, q text) join queue q on q.tenant = x.t and q.name = x.q;
end $$;

create function pawl.intern_kind(hash_text text, tenant_name text, queue_name text, type_name text, window_length bigint,
                                 policy_text text)
returns table (kind_id int, queue_id int)
language plpgsql set search_path = pawl, pg_temp as $$
declare q int;
begin
  select i.id into q from intern_queues(json_build_array(json_build_object('t', tenant_name, 'q', queue_name))) as i;
  insert into kind (hash, queue, type, window_ms, policy) values (hash_text, q, type_name, window_length, policy_text)
  on conflict (hash) do nothing;
  return query select k.id, k.queue from kind k where k.hash = hash_text;
end $$;

create function pawl.kinds_by_id(ids int[])
returns table (id int, tenant text, queue text, queue_id int, type text, policy text)
language sql stable set search_path = pawl, pg_temp as $$
  select k.id, q.tenant, q.name, q.id, k.type, k.policy from kind k join queue q on q.id = k.queue where k.id = any(ids)
$$;
