-- What a round of letting in must know, as of one moment: it is stable, and so are those it calls, so that all of it is one snapshot,
-- and who sees an arrival sees what it is about. Looked at are the keys, flows, lanes and queues that are named; by the ticker whatever
-- has come or is due (`flow_due`). `most`: how much of anything is looked at.
-- JSON keys of the answer: t the time; a arrivals seen; k keys, l lanes, q queues, f flows to look at; r rings, as place, priority,
-- flows in turn; g hunger, as place, priority, since; s standing jobs of queues that are paused, with their flows; h how many jobs of
-- each flow; fs, ks, o those of `flow_flows`, `flow_keys` and `flow_others`. A ring is cut off after `window` flows.
-- Caller: `rounds.ts`. Index: arrival's, flow_waits, flow's, hunger's and queue's primary keys, queue_side, ready's primary key,
-- slot_job. Locks: none.
create or replace function pawl.flow_look(of_keys int[], of_flows int[], of_lanes int[], of_queues int[], is_ticker boolean, most int)
returns json language plpgsql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set enable_material = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  due record;
  seen bigint[];
  places text[];
  rings json;
  hunger json;
  shut json;
  flow_ids int[];
  heads int;
begin
  if is_ticker then
    due := flow_due(started, most);
    seen := coalesce(due.seen, '{}');
    of_keys := of_keys || due.keys; of_flows := of_flows || due.flows; of_lanes := of_lanes || due.lanes; of_queues := of_queues || due.queues;
  else
    seen := array(
      select a.id from unnest(of_keys || array(select -unnest(of_keys))) as u(key) cross join lateral (select a.id from arrival a where a.key = u.key limit most) a
      union
      select a.id from unnest(of_flows) as u(flow) cross join lateral (select a.id from arrival a where a.flow = u.flow limit most) a
      union
      select a.id from unnest(of_queues) as u(queue) cross join lateral (select a.id from arrival a where a.queue = u.queue limit most) a
      order by 1);
  end if;
  of_keys := array(select distinct unnest(of_keys) order by 1); of_flows := array(select distinct unnest(of_flows) order by 1);
  of_lanes := array(select distinct unnest(of_lanes) order by 1); of_queues := array(select distinct unnest(of_queues) order by 1);

  places := array(select 'key ' || u from unnest(of_keys) as u) || array(select 'lane ' || u from unnest(of_lanes) as u)
    || array(select 'queue ' || u from unnest(of_queues) as u);
  select json_agg(json_build_array(r.place, r.priority, r.ids)) into rings from (
    select p.place, n.priority, array(
      select f.id from flow f where f.waits_at = p.place and f.priority = n.priority
      order by f.waits_at, f.priority, f.pass, f.id limit {{flow.window}}) as ids
    from unnest(places) as p(place) cross join generate_series(0, {{lane.width}} - 1) as n(priority)
  ) as r where cardinality(r.ids) > 0;
  select json_agg(json_build_array(h.place, h.priority, h.since)) into hunger
  from unnest(places) as p(place) cross join lateral (select h.* from hunger h where h.place = p.place limit {{lane.width}}) h;
  select json_agg(json_build_array(s.job, s.flow)) into shut from unnest(of_queues) as u(queue)
  cross join lateral ((select q.id from queue q where q.id = u.queue and q.paused limit 1)
                      union all (select q.id from queue q where q.main = u.queue and q.paused order by q.main, q.id limit most)) q
  cross join generate_series(0, {{lane.width}} - 1) as n(priority)
  cross join lateral (select r.id from ready r where r.lane = q.id * {{lane.width}} + n.priority + {{lane.letIn}} limit most) r
  cross join lateral (select s.job, s.flow from slot s where s.job = r.id limit 1) s;

  flow_ids := array(select distinct u.id from (
    select unnest(of_flows) union all
    select f.id::int from json_array_elements(rings) as r(ring) cross join lateral json_array_elements_text(r.ring -> 2) as f(id)) as u(id) order by 1);
  heads := greatest(2, least({{flow.window}}, most / greatest(1, cardinality(flow_ids))));
  return json_build_object('t', started, 'a', seen, 'k', of_keys, 'l', of_lanes, 'q', of_queues, 'f', of_flows, 'r', rings, 'g', hunger,
    's', shut, 'h', heads, 'fs', flow_flows(flow_ids, heads), 'o', flow_others(flow_ids), 'ks', flow_keys(of_keys, flow_ids, started, most));
end $$;
