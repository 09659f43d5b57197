-- A job's history after a commit (0: all of it): for each commit its revision, its claim where that is not in the text, its
-- heartbeats, its events.
-- Caller: `records`. Index: past's primary key. Locks: none.
create or replace function pawl.history(job_id bigint, after_rev int, row_limit int)
returns table (rev int, claim json, beats jsonb, events text)
language sql stable rows 10 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select p.rev, case when p.claim > 0 then claim_words(p.claim) end, p.beats, p.events
  from past p where p.job = job_id and p.from_rev >= after_rev order by p.job, p.from_rev limit row_limit
$$;
