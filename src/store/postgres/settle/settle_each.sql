-- Ends leased jobs that end in many ways, or of which some may not end at all: one statement, in which each item stands for itself.
-- Answers with the jobs it has ended.
-- Caller: `settle_leases`. Index: lease's primary key. Locks: the leases it ends, in their order.
create or replace function pawl.settle_each(items json, started bigint) returns bigint[]
language plpgsql set search_path = pawl, pg_temp set jit = off set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare done bigint[];
begin
  with x as materialized (
    select u.i, x.r, x.n, x.v, x.s, x.a, x.z, x.e, x.p, x.d, x.o from json_to_recordset(items)
      as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text),
      unnest(x.i) as u(i)
    order by u.i
  ), gone as (
    delete from lease l using x
    -- Not `=`: that would allow walking all leases and looking each up among the items, which is what was planned where
    -- the table had been analyzed while it was empty (80 to 130 µs per job beside 1,000 leases).
    where l.id >= x.i and l.id <= x.i and l.rev = x.r and x.v > x.r and x.s & {{mask.rank}} = {{rank.ended}}
      and l.step >> {{bits.attempt}} = x.s >> {{bits.attempt}}
      and (x.n is null or x.n > started)
    returning l.claim, l.step, l.from_step, l.beat, x.i, x.s, x.v, x.r, x.a, x.z, x.p, x.e, x.o, x.d
  ), closed as (
    insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
    select g.i, g.a, case when g.claim > 0 then g.claim end,
           case when g.claim > 0 then coalesce(g.from_step, {{step.enqueued}}) else g.step end, g.s, g.v,
           case when g.claim > 0 then g.r - 1 else g.r end - coalesce(beats_in(g.beat), 0),
           g.z, g.p is not null, g.e, g.o, g.d, g.beat -> 'p'
    from gone g
  )
  select array_agg(g.i) into done from gone g;
  return coalesce(done, '{}');
end $$;
