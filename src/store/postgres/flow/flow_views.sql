-- Flow keys of a tenant as lists: those named (`keys`), in that order, or, where none are, all that come after a name, in the order of
-- their names. Each: number, key, its words where the key is a hash, gate, text, log, rev; spent, in which window, amounts and windows of what is not counted in
-- it; what is taken, as `flow_count` has it; the first slots let in since the gate's `since`, as jobs, when let in and when claimed;
-- how many jobs are held by flows that wait at it, up to 1,000; where asked for, how many slots are those of jobs that stand or are owned.
-- Caller: `views.ts`. Index: flow_key's tenant and key, spend_key, slot's primary key, flow_waits, ready's primary key, ready_id, lease's primary key; those of
-- `flow_count`. Locks: none.
create or replace function pawl.flow_views(of_tenant text, keys json, after text, most int, anew boolean) returns json
language plpgsql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  key_ids int[];
begin
  key_ids := case when keys is null
    then array(select k.id from flow_key k where k.tenant = of_tenant and k.key > after order by k.tenant, k.key limit most)
    else array(select k.id from rows from (json_array_elements_text(keys)) with ordinality as x(key, n)
               cross join lateral (select k.id from flow_key k where k.tenant = of_tenant and k.key = x.key limit 1) k order by x.n) end;
  return (
    select json_build_array(started, json_agg(json_build_array(k.id, k.key, k.name, k.gate, k.text, k.log, k.rev, k.spent, k.spent_in, w.amounts, w.windows,
      c.taken, c.taken_since, c.started_within, c.oldest, p.jobs, p.let_in, p.claimed, h.held, r.counted) order by i.n))
    from unnest(key_ids) with ordinality as i(id, n)
    cross join lateral (select k.* from flow_key k where k.id = i.id limit 1) k
    cross join lateral (select array_agg(w.amount) as amounts, array_agg(w.at / greatest(k.per_ms, 1)) as windows from spend w where w.key = i.id) w
    cross join lateral flow_count(k.id, k.since, k.rate_ms, started) c
    left join lateral (
      select array_agg(s.job order by s.let_in, s.job) as jobs, array_agg(s.let_in order by s.let_in, s.job) as let_in,
             array_agg(s.claimed order by s.let_in, s.job) as claimed
      from (select s.* from (select s.* from slot s where s.key = i.id offset 0) as s where s.let_in >= k.since order by s.let_in, s.job limit 10) as s) p on k.since > 0
    cross join lateral (
      select count(*) as held from (
        select from flow f cross join lateral (select from ready r where r.lane = -f.id limit 1000) r where f.waits_at = 'key ' || i.id limit 1000) as r) h
    left join lateral (
      select count(coalesce(r.id, l.id)) as counted from (select s.job from slot s where s.key = i.id and anew offset 0) as s
      left join lateral (select r.id from ready r where r.id = s.job and r.lane > {{lane.letIn}} limit 1) r on true
      left join lateral (select l.id from lease l where l.id = s.job limit 1) l on true) r on anew);
end $$;
