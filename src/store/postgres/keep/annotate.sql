-- A word that came too late, once per (job, generation, attempt, command). 'c' where there is no such job.
-- Caller: `keeping.ts`. Index: job's and annotation's primary keys. Locks: its own row.
create or replace function pawl.annotate(job_id bigint, generation_no int, attempt_no int, command_word text, at_ms bigint,
                              actor_name text, request_id text, correlation_id text, outcome_text text) returns text
language plpgsql set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
begin
  if not exists (select from job j where j.id = job_id) then return 'c'; end if;
  insert into annotation (job, generation, attempt, command, at, actor, request, correlation, outcome)
  values (job_id, generation_no, attempt_no, command_word, at_ms, actor_name, request_id, correlation_id, outcome_text)
  on conflict do nothing;
  return 'a';
end $$;
