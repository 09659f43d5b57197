-- Untouched jobs of a claim as columns, one row for all of them: rows cost the caller 1.2 µs a job more. A kind or a lane that all share
-- is there once. Texts are joined by what cannot be in them (claim-answer.ts), absent ones said by a letter: as JSON they cost 0.9 µs a
-- job more, and numbers that are all the same 0.1 each. It has no search path, so that it becomes part of the statement that calls it:
-- called as a function it would copy all texts five times more.
-- Caller: `claim`. Index: job's primary key. Locks: none.
create or replace function pawl.claim_answer(job_ids bigint[], one_kind int, one_lane int, separator text)
returns table (ids bigint[], times bigint[], kinds int[], lanes int[], heads text, inputs text, docs text) language sql stable as $$
  select array_agg(j.id), array_agg(j.created_at), coalesce(array_agg(j.kind) filter (where one_kind is null), array[one_kind]),
         coalesce(array_agg(j.lane) filter (where one_lane is null), array[one_lane]), string_agg(coalesce(j.head, E'\x01'), separator),
         string_agg(coalesce(j.input, E'\x01'), separator), null::text
  from pawl.job j where j.id = any(job_ids)
$$;
