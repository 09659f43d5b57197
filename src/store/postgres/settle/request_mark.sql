-- Requests, as they are looked for.
-- Caller: `add_asked`, `caused`. Index: none. Locks: none.
create or replace function pawl.request_mark(request text) returns bigint language sql immutable strict as
$$ select ('x' || left(md5(request), 16))::bit(64)::bigint $$;
