-- What is derived, made anew: of these keys slots go whose jobs neither stand nor are owned; each of the jobs that stands or is owned has
-- a slot of every key of its flow; the flows that are named wait nowhere, and are looked at with the keys; what was spent and not counted is
-- added. A job that somebody has locked is left as it is: what becomes of it is being written. JSON keys of `seated`: i job, f flow,
-- c when it was claimed; of `spends`: k key, a amount; of `claims`, which rates are to count: k key, c when.
-- Whether a slot's job is there is looked up, not joined with NOT EXISTS: a plan made while there was nothing would walk all that stands.
-- Caller: `keeping.ts`. Index: flow_key's tenant and key, slot's primary key, ready_id, lease's primary key, flow's primary key.
-- Locks: the jobs, SKIP LOCKED; then the flows.
create or replace function pawl.flow_mend(of_tenant text, of_keys json, seated json, held int[], spends json, claims json) returns void
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '1s' set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  key_ids int[];
  x record;
  let_in_at bigint;
  is_owned boolean;
begin
  key_ids := array(
    select k.id from json_array_elements_text(of_keys) as n(key)
    cross join lateral (select k.id from flow_key k where k.tenant = of_tenant and k.key = n.key limit 1) k order by 1);
  delete from slot s where s.key = any(key_ids)
    and (select true from ready r where r.id = s.job and r.lane > {{lane.letIn}} limit 1) is null
    and (select true from lease l where l.id = s.job limit 1) is null;
  for x in select o.i, o.f, o.c from json_to_recordset(seated) as o(i bigint, f int, c bigint) order by o.i loop
    let_in_at := null; is_owned := false;
    select r.ready_at into let_in_at from ready r where r.id = x.i and r.lane > {{lane.letIn}} limit 1 for update skip locked;
    if let_in_at is null then
      select true into is_owned from lease l where l.id = x.i limit 1 for update skip locked;
    end if;
    if let_in_at is not null or is_owned then
      insert into slot (key, job, flow, let_in, claimed)
      select distinct u.key, x.i, x.f, coalesce(let_in_at, x.c, started), case when is_owned then coalesce(x.c, started) end
      from flow f cross join lateral unnest(f.keys) as u(key) where f.id = x.f
      on conflict (key, job) do update set claimed = excluded.claimed where slot.claimed is distinct from excluded.claimed;
    end if;
  end loop;
  insert into spend (key, at, amount) select k.id, started, o.a from json_to_recordset(spends) as o(k text, a numeric)
  cross join lateral (select k.id from flow_key k where k.tenant = of_tenant and k.key = o.k and k.per_ms > 0 limit 1) k;
  insert into pace (key, claimed) select k.id, o.c from json_to_recordset(claims) as o(k text, c bigint)
  cross join lateral (select k.id from flow_key k where k.tenant = of_tenant and k.key = o.k and k.rate_ms > 0 limit 1) k;
  update flow f set waits_at = null, next_at = null, version = f.version + 1 where f.id = any(held);
  insert into arrival (flow) select unnest(held);
  insert into arrival (key) select unnest(key_ids);
end $$;
