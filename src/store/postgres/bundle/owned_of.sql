-- One row of `owned`, or none, by the job's number. A text of its own, because the bounds of a bundle serve as an index only where
-- the number is at hand. It has no search path, so that it becomes part of whichever statement calls it.
-- Caller: `claimed_between`, `records`. Index: lease's primary key; claim_bundle, past's, job's and kind's primary keys. Locks: none.
create or replace function pawl.owned_of(job_id bigint)
returns table (id bigint, claim bigint, logged boolean, expires_at bigint, rev int, step bigint, doc text, beat jsonb)
language sql stable as $$
  select l.id, abs(l.claim), l.claim < 0, l.expires_at, l.rev, l.step, l.doc, l.beat from pawl.lease l where l.id = job_id
  union all
  select job_id, c.id, false,
    {{leaseEnd(c.at, (select k.window_ms from pawl.job j join pawl.kind k on k.id = j.kind where j.id = job_id))}},
    {{rev.claimed}}, {{step.claimed}}::bigint, null, null
  from pawl.claim c
  where c.low <= job_id and c.high >= job_id and c.jobs @> array[job_id] and (c.loose is null or job_id <> all(c.loose))
    and not exists (select from pawl.past p where p.job = job_id)
$$;
