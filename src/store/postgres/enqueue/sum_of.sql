-- A checksum of an input, by which `altered` finds what somebody changed: stored with each job, so it stays what it is. By bytes,
-- whatever the database collates by.
-- Caller: `altered`, `bear`, `bear_all`, `insert_plain`. Index: none. Locks: none.
create or replace function pawl.sum_of(input text) returns int language sql immutable strict as
$$ select (hashtextextended(input collate "C", 0) & 2147483647)::int $$;
