-- Inputs, outputs and other bodies by job and name; a name that ends in / stands for all that begin with it. JSON keys: i id, b
-- names, k their keys.
-- Caller: `load.ts`. Index: job's, past's and body's primary keys. Locks: none.
create or replace function pawl.bodies(items json) returns table (id bigint, name text, body text)
language sql stable set search_path = pawl, pg_temp as $$
  with x as (select x.i, n.name, n.key from json_to_recordset(items) as x(i bigint, b json, k json),
             lateral rows from (json_array_elements_text(x.b), json_array_elements_text(x.k)) as n(name, key))
  select j.id, 'input', j.input from x join job j on j.id = x.i where x.name = 'input' and j.input is not null
  union all
  select x.i, 'output', p.output from x cross join lateral
    (select p.output from past p where p.job = x.i and p.output is not null order by p.job, p.from_rev desc limit 1) p
    where x.name = 'output'
  union all
  select b.job, coalesce(b.name, b.key), b.text from x join body b on b.job = x.i and b.key = x.key
    where x.name not in ('input', 'output') and right(x.name, 1) <> '/'
  union all
  select b.job, coalesce(b.name, b.key), b.text from x join body b on b.job = x.i
    where right(x.name, 1) = '/' and starts_with(coalesce(b.name, b.key), x.name)
$$;
