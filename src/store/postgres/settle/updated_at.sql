-- Of a record as the codec writes it: when something last happened to it.
-- Caller: `claim_take`, `claim_take_limited`, `heartbeat`. Index: none. Locks: none.
create or replace function pawl.updated_at(doc text) returns bigint language sql immutable strict as
$$ select substring(doc from '"u":([0-9]+)')::bigint $$;
