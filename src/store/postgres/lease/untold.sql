-- A requested cancel that its owner has not been told of yet, in a record as the codec writes it: deliveredAt, fourth in
-- its list, is absent or null. Quotes inside texts are escaped there, so nothing a user wrote can look like this.
create or replace function pawl.untold(doc text) returns boolean language sql immutable strict as
$$ select doc ~ ',"c":\[[01],"(?:[^"\\]|\\.)*",[0-9]+(\]|,null)' $$;
