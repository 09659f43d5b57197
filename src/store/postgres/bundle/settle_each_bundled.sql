-- As `settle_each` for leases: ends jobs in bundles that end in many ways. Answers with how many have ended, by bundle. A hash join whatever is thought of the
-- sizes: nested, each item would be looked for among all jobs of its bundle. (Lists are taken apart by the selection, not by a
-- join: where one join must be nested, another one may be as well.)
-- Caller: `settle_bundles`. Index: claim's primary key. Locks: the bundles', which the caller has.
create or replace function pawl.settle_each_bundled(items json, bundles bigint[], started bigint)
returns table (bundle bigint, jobs int)
language plpgsql set search_path = pawl, pg_temp set jit = off set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off set enable_hashjoin = on as $$
begin
  return query
  with x as materialized (
    select unnest(x.i) as i, x.r, x.n, x.v, x.s, x.a, x.z, x.e, x.p, x.d, x.o, x.c from json_to_recordset(items)
      as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, c bigint)
  ), ours as materialized (
    select k.id as claim, unnest(k.jobs) as job from claim k where k.id = any(bundles) and k.low is not null
    except select k.id, unnest(k.loose) from claim k where k.id = any(bundles)
  ), closed as (
    insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
    select x.i, x.a, x.c, {{step.enqueued}}, x.s, x.v, 1, x.z, x.p is not null, x.e, x.o, x.d
    from x join ours o on o.claim = x.c and o.job = x.i
    where x.r = {{rev.claimed}} and x.v > x.r and x.s & {{mask.rank}} = {{rank.ended}}
      and x.s >> {{bits.attempt}} = {{attempt.claimed}} and (x.n is null or x.n > started)
    returning past.claim
  )
  select c.claim, count(*)::int from closed c group by c.claim;
end $$;
