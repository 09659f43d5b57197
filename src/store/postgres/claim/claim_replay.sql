-- What is left of a claim that was answered before: its jobs that are still owned under it, as `claim_answer_each` has them, with
-- the attempt of those whose claim is in the log already, where the record before it must be looked for. Jobs of a bundle get leases.
-- Where nothing is left the columns are null: the request is used up, and never given anything new.
-- Caller: `claim`, `claim_limited`, under whose planner switches it runs. Index: claim's, lease's and job's primary keys. Locks: those of `loosen_from`.
create or replace function pawl.claim_replay(claim_id bigint, max_bytes bigint, started bigint)
returns table (claimed_at bigint, nonce text, bundle bigint, is_repeat boolean, is_parked boolean, ids bigint[], times bigint[],
               kinds int[], lanes int[], heads text, inputs text, docs text, logged_attempts int[]) language plpgsql as $$
declare
  it pawl.claim;
  job_ids bigint[];
begin
  perform pawl.loosen_from(claim_id, (select c.jobs from pawl.claim c where c.id = claim_id));
  select * into it from pawl.claim c where c.id = claim_id;
  select array_agg(u.job order by u.n),
         array_agg(case when l.claim < 0 then (l.step >> {{bits.attempt}}) & {{mask.attempt}} end order by u.n)
    into job_ids, logged_attempts
  from unnest(it.jobs) with ordinality as u(job, n)
  join pawl.lease l on l.id = u.job and abs(l.claim) = claim_id and l.expires_at > started;
  return query select it.at, it.nonce, null::bigint, true, false, a.*, logged_attempts
    from pawl.claim_answer_each(job_ids, max_bytes, E'\x1f' || it.nonce) as a;
end $$;
