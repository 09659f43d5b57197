-- The next revision of a key, if it is at the one it is said to be at (0: nobody has said anything about it), or came to this very one
-- by a try whose answer was lost. The key is to be looked at again. JSON keys: t tenant, k key, n its words where the key is a hash, v rev before, b text before, where that is compared, g gate, and of it s since, r rate's
-- window, m budget's window, w weight; x text, l log; z `same`, it is only compared, or
-- `forgotten`, it goes.
-- Caller: `flow_move_some`, `keeping.ts`. Index: flow_key's tenant and key; those of `flow_forget`. Locks: the key.
create or replace function pawl.flow_set(it json) returns boolean language plpgsql set search_path = pawl, pg_temp set lock_timeout = '1s'
set jit = off set enable_seqscan = off as $$
declare
  x record;
  of_key int;
begin
  select * into x from json_to_record(it) as x(t text, k text, n text, v int, b text, g text, s bigint, r bigint, m bigint, w double precision, x text, l text, z text);
  if x.z = 'same' then return coalesce((select k.rev from flow_key k where k.tenant = x.t and k.key = x.k), 0) = x.v; end if;
  if x.z = 'forgotten' then return flow_forget(x.t, x.k, x.v); end if;
  if x.v = 0 then
    insert into flow_key as o (tenant, key, name, gate, since, rate_ms, per_ms, weight, text, log, rev)
    values (x.t, x.k, x.n, x.g, x.s, x.r, x.m, x.w, x.x, x.l, 1)
    on conflict (tenant, key) do update set gate = excluded.gate, since = excluded.since, rate_ms = excluded.rate_ms, per_ms = excluded.per_ms,
      weight = excluded.weight, text = excluded.text, log = excluded.log, rev = 1, version = o.version + 1 where o.rev = 0
    returning id into of_key;
  else
    update flow_key k set gate = x.g, since = x.s, rate_ms = x.r, per_ms = x.m, weight = x.w, text = x.x, log = coalesce(x.l, k.log),
      rev = k.rev + 1, version = k.version + 1 where k.tenant = x.t and k.key = x.k and k.rev = x.v and (x.b is null or k.text = x.b) returning k.id into of_key;
  end if;
  if of_key is null then
    return coalesce((select k.rev = x.v + 1 and k.text = x.x from flow_key k where k.tenant = x.t and k.key = x.k), false);
  end if;
  insert into arrival (key) values (of_key);
  return true;
end $$;
