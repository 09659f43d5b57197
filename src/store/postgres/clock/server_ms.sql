-- The time as the server has it, which somebody may set.
-- Caller: `clock`, `keep_time`. Index: none. Locks: none.
create or replace function pawl.server_ms() returns bigint language sql volatile as
$$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$;
