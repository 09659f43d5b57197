-- Of jobs that have a flow: whether they are held, and how many other flows wait at their lane, up to 1,000. Job by job, as lists.
-- Caller: `views.ts`. Index: ready_id, flow_waits. Locks: none.
create or replace function pawl.flow_lobby(jobs bigint[], flows int[], lanes int[]) returns json
language plpgsql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select json_agg(json_build_array(u.job, r.lane is not null, (
      select count(*) from (select from flow f where f.waits_at = 'lane ' || u.lane and f.id <> u.flow limit 1000) as f)) order by u.n)
    from unnest(jobs, flows, lanes) with ordinality as u(job, flow, lane, n)
    left join lateral (select r.lane from ready r where r.id = u.job and r.lane < 0 limit 1) r on true);
end $$;
