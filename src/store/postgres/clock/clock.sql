-- The store's time. Where the server's clock is set back it stands still until somebody notices, and goes on (`keep_time`). An
-- expression and nothing else, so that it is part of whatever asks for it: 0.7 µs more than the server's, and as a function of its
-- own 5.
-- Caller: `postgres.ts`, and whatever needs the time. Index: none. Locks: none.
create or replace function pawl.clock() returns bigint language sql volatile as
$$ select greatest(pawl.server_ms() + pg_sequence_last_value('pawl.lead'), pg_sequence_last_value('pawl.seen')) $$;
