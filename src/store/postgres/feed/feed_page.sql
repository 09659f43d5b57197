-- Entries of the feed from a position on. Of a claim, the jobs are in `claim`.
-- Caller: `feed.ts`. Index: entry_pos, claim's primary key. Locks: none.
create or replace function pawl.feed_page(after_pos bigint, entries int)
returns table (pos bigint, jobs bigint[], revs int[], kinds int[], shapes text[], void bigint[])
language sql stable rows 20 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select e.pos, coalesce(c.jobs, e.jobs), e.revs, e.kinds, e.shapes, e.void
  from entry e
  left join lateral (select c.jobs from claim c where c.id = e.claim limit 1) c on true where e.pos >= after_pos order by e.pos limit entries
$$;
