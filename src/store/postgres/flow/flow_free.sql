-- Frees the slots of jobs that have left their lane or their lease (`flow_vacate`); somebody is to look at the flows in which some of them are held now.
-- JSON keys: i job, f the flow it is held in, where it is.
-- Caller: `flow_left`. Index: those of `flow_vacate`. Locks: those of `flow_vacate`.
create or replace function pawl.flow_free(items json, started bigint) returns void language plpgsql
set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  perform flow_vacate(array(select x.i from json_to_recordset(items) as x(i bigint)), started);
  insert into arrival (flow) select distinct x.f from json_to_recordset(items) as x(f int) where x.f is not null;
end $$;
