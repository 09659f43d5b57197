-- Whom flows would wait with, of the places where they might: two lists, of the lowest pass there, as place, priority, pass; and of the highest
-- of those with one weigher, as place, priority, weigher, pass. Each is asked for once, however many flows have it in common: what
-- has had its turn lies dead in front of the lowest, and walked once for each of a hundred flows of a lane that was a quarter of what a limited job cost.
-- Caller: `flow_look`, under whose planner switches it runs. Index: flow's and queue's primary keys, flow_waits, flow_account. Locks: none.
create or replace function pawl.flow_others(ids int[]) returns json language plpgsql stable as $$
begin
  return (
    with f as materialized (
      select f.keys, f.lane, f.priority, f.weigher from unnest(ids) as i(id)
      cross join lateral (select f.* from pawl.flow f where f.id = i.id limit 1) f
    ), may as materialized (
      select 'key ' || k.id as place, f.priority, f.weigher from f cross join lateral unnest(f.keys) as k(id)
      union select 'lane ' || f.lane, f.priority, f.weigher from f
      union select 'queue ' || coalesce(q.main, q.id), f.priority, f.weigher from f
      cross join lateral (select q.* from pawl.queue q where q.id = f.lane / {{lane.width}} limit 1) q
    ), firsts as materialized (
      select m.place, m.priority, l.pass from (select distinct m.place, m.priority from may m) as m
      cross join lateral (select l.pass from pawl.flow l where l.waits_at = m.place and l.priority = m.priority
                          order by l.waits_at, l.priority, l.pass limit 1) l
    )
    select json_build_array((select json_agg(json_build_array(o.place, o.priority, o.pass)) from firsts o), (
      select json_agg(json_build_array(m.place, m.priority, m.weigher, o.pass)) from may m
      cross join lateral (select o.pass from pawl.flow o where o.waits_at = m.place and o.priority = m.priority and o.weigher = m.weigher
                          order by o.waits_at desc, o.priority desc, o.weigher desc, o.pass desc limit 1) o
      where m.place = any(array(select o.place from firsts o)))));
end $$;
