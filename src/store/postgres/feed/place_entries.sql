-- The feed. Positions are given after commit, under an advisory try-lock, to the visible entries that have none; the same
-- statement folds the counters, so that counts are exact as of a position. (A watermark at the oldest open transaction freezes for
-- as long as anyone, even in another database, keeps one open.) Answers with how many entries it placed; null where somebody else is
-- at it, unless that is to be waited for (`patient`): who counts wants all that was there. `most`: entries, not events.
-- Caller: `feed.ts`. Index: entry_unplaced. Locks: its own, one for the whole feed; the feed's row.
create or replace function pawl.place_entries(most int, patient boolean) returns int
language plpgsql set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare
  base bigint;
  placed int;
begin
  if patient then perform pg_advisory_xact_lock(hashtextextended('pawl.feed', 0));
  elsif not pg_try_advisory_xact_lock(hashtextextended('pawl.feed', 0)) then return null;
  end if;
  select pos into base from feed for update;
  -- By id: the next transaction that changes a job waits for the commit before it, and only then draws a number, so the events of one job keep
  -- the order of their revisions. Both orders are the same, else positions would have gaps.
  with fresh as materialized (
    select e.id, row_number() over (order by e.id) as n from entry e where e.pos is null order by e.id limit most
  ), done as (
    update entry e set pos = base + f.n from fresh f
    -- Not `=`: that would allow walking all entries.
    where e.id >= f.id and e.id <= f.id
    returning e.claim, e.jobs, e.kinds, e.shapes, e.void
  ), whole as materialized (
    select coalesce(c.jobs, d.jobs) as jobs, d.kinds, d.shapes, d.void from done d
    left join lateral (select c.jobs from claim c where c.id = d.claim limit 1) c on true
  ), counted as (
    -- Batches whose jobs are all alike need not be taken apart.
    select w.kinds[1] as kind, w.shapes[1] as shape, sum(cardinality(w.jobs) - coalesce(cardinality(w.void), 0)) as n
    from whole w where cardinality(w.kinds) = 1 and cardinality(w.shapes) = 1 group by 1, 2
    union all
    select case when cardinality(w.kinds) = 1 then w.kinds[1] else w.kinds[u.n] end,
           case when cardinality(w.shapes) = 1 then w.shapes[1] else w.shapes[u.n] end, count(*)
    from whole w cross join lateral unnest(w.jobs) with ordinality as u(job, n)
    where (cardinality(w.kinds) > 1 or cardinality(w.shapes) > 1) and not u.job = any(coalesce(w.void, '{}')) group by 1, 2
  ), sides as (
    select kind, left(shape, 1)::"char" as state, -n as n from counted
    union all select kind, right(shape, 1)::"char", n from counted
  ), sums as (
    select kind, state, sum(n) as n from sides where state <> '-' group by kind, state having sum(n) <> 0
  ), folded as (
    insert into tally (kind, state, count) select kind, state, n from sums
    on conflict (kind, state) do update set count = tally.count + excluded.count
  ), gone as (
    select coalesce(sum(n), 0) as n from counted where right(shape, 1) = '-'
  ), moved as (
    update feed set pos = base + (select count(*) from fresh), purged = purged + (select n from gone)
    where (select count(*) from fresh) > 0
  )
  select count(*) into placed from fresh;
  return placed;
end $$;
