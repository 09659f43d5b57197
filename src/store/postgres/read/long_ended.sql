-- Ends with a long log, by their time.
-- Caller: `find.ts`. Index: past_long. Locks: none.
create or replace function pawl.long_ended(from_ms bigint, after_job bigint, to_ms bigint, row_limit int)
returns table (at bigint, job bigint) language sql stable rows 10 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select p.at, p.job from past p where p.state is not null and p.rev >= {{log.long}} and (p.at, p.job) > (from_ms, after_job) and p.at < to_ms
  order by p.at, p.job limit row_limit
$$;
