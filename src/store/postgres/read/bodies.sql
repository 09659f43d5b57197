-- Inputs, outputs and other bodies by job and name; a name that ends in / stands for all that begin with it. JSON keys: i id, b
-- names, k their keys.
-- Each is looked up by itself: nobody can tell how long a list in JSON is, and a join with one thought to be long walked all bodies
-- there were (50 ms beside 140,000, for every job that goes on).
-- Caller: `load.ts`. Index: job's, past's and body's primary keys. Locks: none.
create or replace function pawl.bodies(items json) returns table (id bigint, name text, body text)
language plpgsql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  with x as materialized (
    select x.i, n.name, n.key from json_to_recordset(items) as x(i bigint, b json, k json),
      lateral rows from (json_array_elements_text(x.b), json_array_elements_text(x.k)) as n(name, key))
  select x.i, 'input', j.input from x cross join lateral
    (select j.input from job j where j.id = x.i and j.input is not null limit 1) j
    where x.name = 'input'
  union all
  select x.i, 'output', p.output from x cross join lateral
    (select p.output from past p where p.job = x.i and p.output is not null order by p.job, p.from_rev desc limit 1) p
    where x.name = 'output'
  union all
  select x.i, b.name, b.text from x cross join lateral
    (select coalesce(b.name, b.key) as name, b.text from body b where b.job = x.i and b.key = x.key limit 1) b
    where x.name not in ('input', 'output') and right(x.name, 1) <> '/'
  union all
  select x.i, b.name, b.text from x cross join lateral
    (select coalesce(b.name, b.key) as name, b.text from body b where b.job = x.i offset 0) b
    where right(x.name, 1) = '/' and starts_with(b.name, x.name);
end $$;
