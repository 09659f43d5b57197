-- About the last job born before a time: numbers rise with time, but for those of blocks that lay idle. Twenty look-ups instead of
-- a walk over all that is over, when mostly nothing is old enough.
-- Caller: `find_ids`. Index: job's primary key. Locks: none.
create or replace function pawl.born_before(time_ms bigint) returns bigint
language plpgsql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
declare
  lowest bigint := (select j.id - 1 from job j order by j.id limit 1);
  highest bigint := (select j.id from job j order by j.id desc limit 1);
  found_id bigint;
  found_at bigint;
begin
  while lowest < highest loop
    select j.id, j.created_at into found_id, found_at from job j where j.id > (lowest + highest) / 2 order by j.id limit 1;
    if found_at < time_ms then lowest := found_id; else highest := (lowest + highest) / 2; end if;
  end loop;
  return lowest;
end $$;
