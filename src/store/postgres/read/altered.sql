-- Jobs whose input is not what was written, for `verify`.
-- Caller: `load.ts`. Index: job's primary key. Locks: none.
create or replace function pawl.altered(ids bigint[]) returns setof bigint
language sql stable rows 1 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select j.id from job j where j.id = any(ids) and j.sum is distinct from sum_of(j.input)
$$;
