-- As `insert_plain`, with keys that nobody has: what most jobs with keys are. Null, and nothing is written, where one of the keys is
-- there; fails where it comes in between, or an id is there. Either way `enqueue` says who was first. Ids and keys are different
-- ones. Keys as arrays beside those of `insert_plain`: of tenants, purposes and untils, one element stands for all of them.
-- Taken in one order by all, as in `bear_all`.
-- Caller: `insert.ts`. Index: key's primary key. Locks: its own rows.
create or replace function pawl.insert_keyed(jobs bigint[], inputs text[], heads text[], times bigint[], kinds int[], lanes int[],
                                  windows int[], correlations text[], marks text[], readies bigint[], ticks bigint[],
                                  pending int[], shapes text[], keys text[], takers bigint[], tenants text[], purposes text[],
                                  untils bigint[]) returns bigint
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '20ms' set jit = off set enable_seqscan = off
set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  -- For all of them, or null.
  t1 text := case when cardinality(tenants) = 1 then tenants[1] end;
  p1 text := case when cardinality(purposes) = 1 then purposes[1] end;
  u1 bigint := case when cardinality(untils) = 1 then untils[1] end;
begin
  perform from (select unnest(keys) as k, unnest(tenants) as t, unnest(purposes) as p) as w
  where (select h.job from key h where h.tenant = coalesce(w.t, t1) and h.purpose = coalesce(w.p, p1) and h.key = w.k) is not null
  limit 1;
  if found then return null; end if;
  insert into key (tenant, purpose, key, job, until)
  select coalesce(t, t1), coalesce(p, p1), k, j, coalesce(u, u1)
  from (select unnest(keys) as k, unnest(takers) as j, unnest(tenants) as t, unnest(purposes) as p, unnest(untils) as u) as w
  order by coalesce(t, t1) collate "C", coalesce(p, p1) collate "C", k collate "C";
  return insert_plain(jobs, inputs, heads, times, kinds, lanes, windows, correlations, marks, readies, ticks, pending, shapes);
end $$;
