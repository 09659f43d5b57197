-- Small numbers for flows and their keys. Interned on pawl's own connection, before and outside any transaction of a caller. A key of
-- which something is known stays as it is. Answers in order, each with the flow's number and those of its keys.
-- JSON keys: h hash, l lane, p priority, t tenant, w whose weight it has, ks keys in the order in which they were declared, with k key
-- and those of `flow_set`.
-- Caller: `flows.ts`. Index: flow's hash, flow_key's tenant and key, queue's primary key. Locks: its own rows, and the queue that has its first flow.
create or replace function pawl.intern_flows(items json) returns json
language plpgsql set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
begin
  insert into flow_key as o (tenant, key, name, gate, since, rate_ms, per_ms, weight, text, rev)
  select distinct on (x.t, k.k collate "C") x.t, k.k, k.n, k.g, k.s, k.r, k.m, k.w, coalesce(k.x, ''), case when k.x is null then 0 else 1 end
  from json_to_recordset(items) as x(t text, ks json)
  cross join lateral json_to_recordset(x.ks) as k(k text, n text, g text, s bigint, r bigint, m bigint, w double precision, x text)
  where coalesce((select o.rev from flow_key o where o.tenant = x.t and o.key = k.k), 0) = 0 order by x.t, k.k collate "C"
  on conflict (tenant, key) do update set gate = excluded.gate, since = excluded.since, rate_ms = excluded.rate_ms, per_ms = excluded.per_ms,
    weight = excluded.weight, text = excluded.text, rev = excluded.rev, version = o.version + 1 where o.rev = 0 and excluded.rev > 0;
  insert into flow (hash, lane, priority, tenant, weigher, keys)
  select distinct on (x.h) x.h, x.l, x.p, x.t, x.w, array(
    select o.id from rows from (json_to_recordset(x.ks) as (k text)) with ordinality as k(k, n)
    cross join lateral (select o.id from flow_key o where o.tenant = x.t and o.key = k.k limit 1) o order by k.n)
  from json_to_recordset(items) as x(h text, l int, p int, t text, w text, ks json)
  where (select f.id from flow f where f.hash = x.h) is null order by x.h on conflict do nothing;
  update queue q set limited = true where not q.limited
    and q.id = any(array(select x.l / {{lane.width}} from json_to_recordset(items) as x(l int)));
  return (select json_agg(json_build_array(f.id, f.keys) order by x.n)
          from rows from (json_to_recordset(items) as (h text)) with ordinality as x(h, n)
          cross join lateral (select f.* from flow f where f.hash = x.h limit 1) f);
end $$;
