-- The store's: where the server's is set back it stands still until somebody notices, and goes on (`pawl.keep_time`). An
-- expression and nothing else, so that it is part of whatever asks for it: 0.7 µs more than the server's, and as a function of its
-- own 5.
create or replace function pawl.clock() returns bigint language sql volatile as
$$ select greatest(pawl.server_ms() + pg_sequence_last_value('pawl.lead'), pg_sequence_last_value('pawl.seen')) $$;
