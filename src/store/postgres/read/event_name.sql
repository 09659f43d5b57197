-- The name of an event, by its letter.
-- Caller: `events`. Index: none. Locks: none.
create or replace function pawl.event_name(letter text) returns text language sql immutable as $$
  select case letter
    when 'e' then 'enqueued' when 'a' then 'admitted' when 'D' then 'denied' when 'c' then 'claimed' when 's' then 'started'
    when 'w' then 'waiting' when 'p' then 'parked' when 'g' then 'signalled' when 'o' then 'wait_timed_out'
    when 'r' then 'released' when 't' then 'retry_scheduled' when 'l' then 'stalled' when 'q' then 'requeued'
    when 'C' then 'cancelled' when 'S' then 'succeeded' when 'F' then 'failed' when 'T' then 'timed_out'
    when 'L' then 'dead_lettered' when 'u' then 'compensating' when 'R' then 'reopened' when 'h' then 'heartbeat'
    when 'P' then 'progressed' when 'k' then 'checkpointed' when 'd' then 'recorded' when 'G' then 'signal_stored'
    when 'x' then 'cancel_requested' when 'y' then 'rescheduled' when 'U' then 'compensated' when 'z' then 'compacted' end
$$;
