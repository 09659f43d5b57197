-- Replaces the whole history of an ended job by one row with the same end. 'c' where it is not any more what the caller has
-- read.
-- Caller: `keeping.ts`. Index: past's, ready's, lease's and rest's keys. Locks: the job's last row of history, then its
-- claims.
create or replace function pawl.compact(job_id bigint, at_rev int, row_count int, events_text text, doc_text text) returns text
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  last past;
  first past;
  n int;
begin
  select * into last from past p where p.job = job_id and p.rev = at_rev and p.state is not null for update;
  if not found then return 'c'; end if;
  -- In statements after the lock: the transaction that held it may have reopened or removed the job. A reopened job has a later row of history;
  -- that it stands nowhere else is asked as well, as `purge` and `hold_ended` do. (A job in a bundle has no history to compact.)
  select count(*) into n from past p where p.job = job_id;
  if n <> row_count or exists (select from past p where p.job = job_id and p.from_rev >= at_rev)
     or exists (select from ready y where y.id = job_id) or exists (select from lease l where l.id = job_id)
     or exists (select from rest s where s.id = job_id) then return 'c'; end if;
  select * into first from past p where p.job = job_id order by p.job, p.from_rev limit 1;
  update claim c set refs = c.refs - d.n from
    (select abs(p.claim) as id, count(*) as n from past p where p.job = job_id and p.claim is not null group by 1) d
  -- Not `=`: that would allow walking all claims.
  where c.id >= d.id and c.id <= d.id;
  delete from past p where p.job = job_id;
  delete from asked a where a.job = job_id;
  -- The claim's number is nobody's: below 0, since claims are in the text (`attempt_by_claim`); not the least of all, whose `abs` fails.
  insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
  values (job_id, last.at, -9223372036854775807, first.from_step, last.to_step, last.rev, first.from_rev, last.state,
          last.plain, events_text, last.output, doc_text);
  return 'a';
end $$;
