-- Forgets entries that everybody has had time to read, claims nothing refers to any more (both in bounded batches), and parked
-- claims whose time is over.
-- Caller: `tidying.ts`. Index: entry_at, claim's primary key. Locks: the entries it forgets, SKIP LOCKED.
create or replace function pawl.trim_feed(older_than bigint, most int) returns int
language plpgsql set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare
  started bigint := clock();
  gone int;
begin
  -- Not `=`, where one is joined with what was found: that would allow walking all of them.
  with old as (select e.id from entry e where e.at < older_than and e.pos is not null order by e.at limit most for update skip locked),
  cut as (delete from entry e using old where e.id >= old.id and e.id <= old.id returning e.claim),
  freed as (delete from claim c using cut where c.id >= cut.claim and c.id <= cut.claim and c.refs <= 0)
  select count(*) into gone from cut;
  -- Claims that were parked first: one that is parked for longer is in nobody's way.
  delete from parked p where p.until < started
    and p.id <= (select max(o.id) from (select o.id from parked o order by o.id limit most) as o);
  return gone;
end $$;
