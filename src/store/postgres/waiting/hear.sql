-- Begins to listen on a channel of one's own. One call, so that the channel's name is in nobody's statistics. The lock is held
-- for as long as the connection is there, which is how `parked_for` knows; the empty notification to oneself shows that one hears.
-- Caller: `listening.ts`. Index: none. Locks: the advisory one of the channel, until the connection ends.
create or replace function pawl.hear(channel_name text) returns void
language plpgsql set search_path = pawl, pg_temp as $$
begin
  execute format('listen %I', channel_name);
  perform pg_advisory_lock(hashtextextended(channel_name, 0)), pg_notify(channel_name, '');
end $$;
