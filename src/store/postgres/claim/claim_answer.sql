-- Jobs of a claim as columns, one row for all of them: rows cost the caller 1.2 µs a job more. A kind or a lane that all share is there
-- once. Texts are joined by what cannot be in them (claim-answer.ts), absent ones said by a letter: as JSON they cost 0.9 µs a job more,
-- and numbers that are all the same 0.1 each. `docs`, the records before the claim, are null where nobody has been touched. `looks`:
-- there are records to look for, or more inputs than may ride along.
-- Caller: `claim`, `claim_replay`, under whose planner switches it runs. Index: job's and lease's primary keys. Locks: none.
create or replace function pawl.claim_answer(job_ids bigint[], one_kind int, one_lane int, looks boolean, max_bytes bigint, nonce_text text,
  out ids bigint[], out times bigint[], out kinds int[], out lanes int[], out heads text, out inputs text, out docs text) language plpgsql as $$
declare separator text := E'\x1f' || nonce_text;
begin
  if not looks then
    select array_agg(j.id), array_agg(j.created_at), array_agg(j.kind) filter (where one_kind is null),
           array_agg(j.lane) filter (where one_lane is null), string_agg(coalesce(j.head, E'\x01'), separator),
           string_agg(coalesce(j.input, E'\x01'), separator)
      into ids, times, kinds, lanes, heads, inputs
    from pawl.job j where j.id = any(job_ids);
  else
    -- One index look-up per row: joined, a plan made while the table was empty walked the whole index for each of them
    -- (250 to 800 ms for a claim of 500 beside 4,000 jobs).
    select array_agg(x.id), array_agg(x.created_at), array_agg(x.kind) filter (where one_kind is null),
           array_agg(x.lane) filter (where one_lane is null), string_agg(coalesce(x.head, E'\x01'), separator),
           string_agg(coalesce(x.input, E'\x01'), separator), string_agg(coalesce(x.doc, E'\x01'), separator)
      into ids, times, kinds, lanes, heads, inputs, docs
    from (
      select j.id, j.created_at, j.kind, j.lane, j.head, l.doc,
             case when sum(coalesce(octet_length(j.input), 0)) over (order by u.n) <= max_bytes then j.input end as input
      from unnest(job_ids) with ordinality as u(id, n)
      cross join lateral (select j.* from pawl.job j where j.id = u.id limit 1) j
      left join lateral (select l.doc from pawl.lease l where l.id = u.id limit 1) l on true
      order by u.n
    ) as x;
  end if;
  kinds := coalesce(kinds, array[one_kind]);
  lanes := coalesce(lanes, array[one_lane]);
end $$;
