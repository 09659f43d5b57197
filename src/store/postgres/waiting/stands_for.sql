-- Who calls it: whoever gives jobs away, under planner switches of its own. The claim that stands for a lane, the latest if
-- there are several, or null. Index: standing's primary key, from its end, a bounded part of it: with a snapshot held open
-- elsewhere all that ever stood would have to be walked. Locks: the claim, SKIP LOCKED. Whoever listens holds a lock; where
-- it can be had there is nobody any more.
create or replace function pawl.stands_for(for_lane int, now_ms bigint) returns pawl.standing language plpgsql as $$
declare
  it pawl.standing;
begin
  select * into it from pawl.standing s
  where s.id > (select q.last_value - 256 from pawl.standing_number q) and s.until > now_ms and s.lanes @> array[for_lane]
    and not pg_try_advisory_xact_lock_shared(hashtextextended(s.channel, 0))
  order by s.id desc limit 1 for update skip locked;
  return it;
end $$;
