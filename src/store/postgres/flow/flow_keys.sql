-- Keys, those that are named and those of flows, as lists: number, version, gate, when to look again; what was spent and in which window;
-- what was spent besides and is not counted yet, as numbers, amounts and windows; as core counts slots (core/flow/slots.ts), how many are taken, how many of
-- those since the gate's `since`, what its rate counts and the oldest of that; and of those that are named what stands, the newest
-- first, as jobs, flows and when they were let in: the `most` newest, who go first where somebody must, and the `most` oldest, who may have stood too long.
-- What a key has no use for, a budget, a rate, who stands, is not looked for: said in the `where` of a look-up, that is asked before it.
-- Caller: `flow_look`, under whose planner switches it runs. Index: flow's and flow_key's primary keys, spend_key, slot's primary key,
-- pace_key. Locks: none.
create or replace function pawl.flow_keys(key_ids int[], flow_ids int[], started bigint, most int) returns json language plpgsql stable as $$
begin
  return (
    select json_agg(json_build_array(k.id, k.version, k.gate, k.wake_at, k.spent, k.spent_in, w.ids, w.amounts, w.windows,
      c.taken, c.taken_since, case when k.rate_ms = 0 then 0 else c.within + p.within end, case when k.rate_ms > 0 then least(c.oldest, p.oldest) end,
      s.jobs, s.flows, s.let_in))
    from (select u.id, u.id = any(key_ids) as named from (
            select unnest(key_ids) union select unnest(f.keys) from unnest(flow_ids) as i(id)
            cross join lateral (select f.keys from pawl.flow f where f.id = i.id limit 1) f) as u(id)) as i
    cross join lateral (select k.* from pawl.flow_key k where k.id = i.id limit 1) k
    cross join lateral (select array_agg(w.id) as ids, array_agg(w.amount) as amounts, array_agg(w.at / greatest(k.per_ms, 1)) as windows
                        from pawl.spend w where w.key = i.id) w
    cross join lateral (
      select count(*) as taken, count(*) filter (where s.let_in >= k.since) as taken_since,
             count(*) filter (where s.claimed is null or s.claimed > started - k.rate_ms) as within,
             min(s.claimed) filter (where s.claimed > started - k.rate_ms) as oldest from pawl.slot s where s.key = i.id) c
    cross join lateral (select count(*) as within, min(p.claimed) as oldest from pawl.pace p
                        where k.rate_ms > 0 and p.key = i.id and p.claimed > started - k.rate_ms) p
    cross join lateral (
      select array_agg(s.job order by s.n) as jobs, array_agg(s.flow order by s.n) as flows, array_agg(s.let_in order by s.n) as let_in from (
        -- By key, and not by time among what stands anywhere: that is what `offset 0` is for.
        select s.*, row_number() over (order by s.let_in desc, s.job desc) as n, count(*) over () as of
        from (select s.* from pawl.slot s where i.named and s.key = i.id offset 0) as s where s.claimed is null) as s
      where s.n <= most or s.n > s.of - most) s);
end $$;
