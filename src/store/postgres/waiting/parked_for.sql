-- The claim that is parked for a lane, the latest if there are several, or null. It counts only while its process listens,
-- which then holds the lock of its channel: where that lock can be had, nobody is there any more. A bounded part of the table is
-- read: with a snapshot held open elsewhere all that was ever parked would have to be walked.
-- Caller: `offer`, under whose planner switches it runs. Index: parked's primary key, from its end. Locks: the claim, SKIP LOCKED.
create or replace function pawl.parked_for(for_lane int, now_ms bigint) returns pawl.parked language plpgsql as $$
declare
  it pawl.parked;
begin
  select * into it from pawl.parked p
  where p.id > (select n.last_value - 256 from pawl.parked_number n) and p.until > now_ms and p.lanes @> array[for_lane]
    and not pg_try_advisory_xact_lock_shared(hashtextextended(p.channel, 0))
  order by p.id desc limit 1 for update skip locked;
  return it;
end $$;
