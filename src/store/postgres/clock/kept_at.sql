-- When the store's time was last kept (`keep_time`), which is also when somebody last asked what is due.
-- Caller: `kept-time.ts`. Index: none. Locks: none.
create or replace function pawl.kept_at() returns bigint language sql volatile as
$$ select pg_sequence_last_value('pawl.seen') $$;
