-- Inputs of jobs, a row each, in no order; of a job without one there is none.
-- Caller: `claims.ts`. Index: job's primary key. Locks: none.
create or replace function pawl.inputs(job_ids bigint[]) returns table (id bigint, input text)
language plpgsql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
begin
  return query select j.id, j.input from job j where j.id = any(job_ids) and j.input is not null;
end $$;
