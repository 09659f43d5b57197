-- Moves the ticks of claims ahead of the clocks of their leases: a claim's is never later than any of them.
-- Caller: `move_sets`, `move_staying`, under whose planner switches it runs. Index: claim's primary key. Locks: the claims' rows, in their order.
create or replace function pawl.tick_earlier(claims bigint[], ticks bigint[]) returns void language plpgsql as $$
begin
  update pawl.claim c set tick = u.tick
  from (select u.id, min(u.tick) as tick from unnest(claims, ticks) as u(id, tick) group by u.id order by u.id) as u
  where c.id >= u.id and c.id <= u.id and (c.tick is null or c.tick > u.tick);
end $$;
