-- Whether a record, as the codec writes it, has a requested cancel that its owner has not been told of yet: deliveredAt, fourth in
-- its list, is absent or null. Quotes inside texts are escaped there, so nothing a user wrote can look like this.
-- Caller: `heartbeat`. Index: none. Locks: none.
create or replace function pawl.untold(doc text) returns boolean language sql immutable strict as
$$ select doc ~ ',"c":\[[01],"(?:[^"\\]|\\.)*",[0-9]+(\]|,null)' $$;
