-- Notes in which rows of history requests of jobs that have moved are told of: `requests`, each job's as a list; that of a claim
-- that was not in the log yet (`claims` > 0); those of heartbeats that were not either. `ends`: where ends were left again. Not of the
-- first rows of a job, which are looked through.
-- Caller: `move_sets`, `move_staying`, under whose planner switches it runs. Index: claim's and asked's primary keys. Locks: its own rows.
create or replace function pawl.add_asked(jobs bigint[], from_revs int[], requests json[], claims bigint[], beats jsonb[], ends int[])
returns void language plpgsql as $$
begin
  if {{asked.from}} > all(from_revs) then return; end if;
  insert into pawl.asked (job, request, from_rev)
  select u.job, pawl.request_mark(q.words), u.from_rev
  from unnest(jobs, from_revs, requests, claims, beats) as u(job, from_rev, requests, claim, beat)
  cross join lateral (
    select json_array_elements_text(u.requests)
    union all select coalesce(c.request_words, c.request) from pawl.claim c where u.claim > 0 and c.id = u.claim
    union all select run ->> 3 from jsonb_array_elements(u.beat -> 'p') as run
  ) as q(words)
  where u.from_rev >= {{asked.from}}
  union all select u.job, 0, u.end_rev from unnest(jobs, ends) as u(job, end_rev) where u.end_rev >= {{asked.from}}
  -- Two words of one request.
  on conflict do nothing;
end $$;
