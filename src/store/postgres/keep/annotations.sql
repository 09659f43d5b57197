-- The words about a job that came too late, in the order of the attempts they are about.
-- Caller: `annotations.ts`. Index: annotation's primary key. Locks: none.
create or replace function pawl.annotations(job_id bigint)
returns table (generation int, attempt int, command text, at bigint, actor text, request text, correlation text,
               outcome text)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select a.generation, a.attempt, a.command, a.at, a.actor, a.request, a.correlation, a.outcome
  from annotation a where a.job = job_id order by a.generation, a.attempt, a.at, a.command
$$;
