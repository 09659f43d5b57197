-- The name of an event, by its letter.
-- Caller: `events`. Index: none. Locks: none.
create or replace function pawl.event_name(letter text) returns text language sql immutable as $$
  select case letter {{event.names}} end
$$;
