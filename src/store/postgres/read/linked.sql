-- Events of jobs that have another correlation of their own, in order.
-- Caller: `by-correlation.ts`. Index: link's primary key. Locks: none.
create or replace function pawl.linked(marks text[], after_job bigint, after_rev int, row_limit int) returns table (job bigint, rev int)
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select l.job, l.rev from unnest(marks) as m(mark) cross join lateral (
    select l.job, l.rev from link l where l.correlation = m.mark and (l.job, l.rev) > (after_job, after_rev)
    order by l.correlation, l.job, l.rev limit row_limit
  ) l order by l.job, l.rev limit row_limit
$$;
