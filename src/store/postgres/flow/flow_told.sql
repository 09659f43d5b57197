-- Keys of jobs that were claimed, each once: tenant, name, document and revision. The caller knows which of them hears of which job.
-- Caller: `claims.ts`, in one statement with the claim. Index: slot_job, flow_key's primary key. Locks: none.
create or replace function pawl.flow_told(job_ids bigint[]) returns json
language plpgsql volatile set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select json_agg(json_build_array(k.tenant, coalesce(k.name, k.key), k.text, k.rev) order by k.id)
    from (select distinct s.key from unnest(job_ids) as u(job) cross join lateral (select s.key from slot s where s.job = u.job limit {{flow.keys}}) s) as i
    cross join lateral (select k.* from flow_key k where k.id = i.key limit 1) k);
end $$;
