-- The function that tables are partitioned by, and hence stays what it is; by bytes, whatever the database collates by.
create or replace function pawl.sum_of(input text) returns int language sql immutable strict as
$$ select (hashtextextended(input collate "C", 0) & 2147483647)::int $$;
