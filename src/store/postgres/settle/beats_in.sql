-- How many heartbeats are not in `past` yet. Strict: called for every row settled, and nearly all have none.
-- Caller: `move_sets`, `move_staying`, `settle_each`, `settle_leases`. Index: none. Locks: none.
create or replace function pawl.beats_in(beat jsonb) returns int language sql immutable strict as
$$ select sum((run ->> 0)::int)::int from jsonb_array_elements(beat -> 'p') as run $$;
