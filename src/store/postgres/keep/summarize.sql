-- Lets what was written lately be found by its time. A range of pages that an index of times does not know yet is read by every
-- search for any time, and left to itself Postgres comes by once in a million rows.
-- Caller: `tidying.ts`. Index: job_created, past_at. Locks: what a vacuum takes, for as long as it takes to read what is new; where
-- a vacuum is under way, which does the same, it is left to that, well before the vacuum would give way.
create or replace function pawl.summarize() returns void
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' as $$
begin
  perform brin_summarize_new_values('job_created'), brin_summarize_new_values('past_at');
exception when lock_not_available then null;
end $$;
