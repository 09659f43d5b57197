-- Who calls it: whoever begins to listen. One call, so that the name of its channel is in nobody's statistics; the lock
-- is held for as long as somebody is there, and what is said to oneself at once shows that one hears.
create or replace function pawl.hear(channel_name text) returns void
language plpgsql set search_path = pawl, pg_temp as $$
begin
  execute format('listen %I', channel_name);
  perform pg_advisory_lock(hashtextextended(channel_name, 0)), pg_notify(channel_name, '');
end $$;
