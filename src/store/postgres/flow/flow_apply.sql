-- Applies what core made of a look: jobs that are let in, each with a slot of every key it has, or taken back; flows as they are now.
-- All of it if the keys and flows are at the versions they were seen at, the queues as they were, and the lanes no fuller; else nothing.
-- That is what keeps two rounds from giving one slot twice, and a flow from waiting at a key that was looked at since, for every
-- round counts the versions of what it looked at up.
-- Slots that were freed since the look make room for more; what was claimed since is counted either way; so a count that was right then is not too low now.
-- A job whose row somebody has locked is waited for by nobody: its flow is looked at again at once, as is one whose job is gone.
-- JSON keys: a arrivals that were seen; k keys, with i number, v version, w when to look again, s spent, n in which window, c what of
-- `spend` is counted in it; f flows, with i number, v version, p pass, w place, n next look; q queues, with i number, z paused; s lanes,
-- with i number, n how many stood there; l jobs let in, b taken back, each with i job, f flow; g places that were served or that
-- somebody waits at first, with p place, n priority; m keys and o queues that are to be looked at again; u keys that a flow is put to wait at,
-- which nobody may have freed since. Answers with how many were let
-- in, and the keys that were freed by taking back.
-- Caller: `rounds.ts`. Index: the primary keys of flow_key, flow, queue, arrival, spend and hunger, ready_id, slot_job, pace_key. Locks: the
-- keys, in their order; the flows and the queues, in theirs; rows of `ready`, SKIP LOCKED.
create or replace function pawl.flow_apply(plan json) returns table (applied boolean, let_in int, freed int[])
language plpgsql rows 1 set search_path = pawl, pg_temp set lock_timeout = '1s' set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  of_keys int[]; key_versions bigint[]; wakes bigint[]; spents numeric[]; windows bigint[]; spends bigint[];
  of_flows int[]; flow_versions bigint[]; passes double precision[]; places text[]; nexts bigint[];
  of_queues int[];
  seen bigint[];
  rated record;
  its record;
begin
  -- Taken apart once: each look for one of its keys reads the whole text.
  select * into its from json_to_record(plan) as x(a json, k json, f json, q json, s json, l json, b json, g json, m json, o json, u json);
  seen := array(select json_array_elements_text(its.a)::bigint);
  select array_agg(x.i), array_agg(x.v), array_agg(x.w), array_agg(x.s), array_agg(x.n) into of_keys, key_versions, wakes, spents, windows
  from json_to_recordset(its.k) as x(i int, v bigint, w bigint, s numeric, n bigint);
  select array_agg(x.i), array_agg(x.v), array_agg(x.p), array_agg(x.w), array_agg(x.n) into of_flows, flow_versions, passes, places, nexts
  from json_to_recordset(its.f) as x(i int, v bigint, p double precision, w text, n bigint);
  of_queues := array(select x.i from json_to_recordset(its.q) as x(i int));
  spends := array(select unnest(x.c) from json_to_recordset(its.k) as x(c bigint[]));
  perform from flow_key k where k.id = any(of_keys) order by k.id for no key update;
  perform from flow f where f.id = any(of_flows) order by f.id for no key update;
  perform from queue q where q.id = any(of_queues) order by q.id for no key update;
  -- Compared by later statements than those that may have waited: these see what was committed meanwhile.
  applied := not exists (select from flow_key k where k.id = any(of_keys) and k.version <> key_versions[array_position(of_keys, k.id)])
    and not exists (select from flow f where f.id = any(of_flows) and f.version <> flow_versions[array_position(of_flows, f.id)])
    and not exists (select from json_to_recordset(its.q) as x(i int, z boolean)
                    cross join lateral (select from queue q where q.id = x.i and q.paused <> x.z limit 1) q)
    and not exists (select from json_to_recordset(its.s) as x(i int, n int) where x.n < (
                      select count(*) from (select from ready r where r.lane = x.i + {{lane.letIn}} limit x.n + 1) as r))
    and not exists (select from json_array_elements_text(its.u) as u(key)
                    cross join lateral (select from arrival a where a.key = -u.key::int and a.id <> all(seen) limit 1) a);
  let_in := 0;
  if not applied then return next; return; end if;
  -- Nobody is told of it but by hints: should it be lost, with all that belongs to it, it is done again. The claim of what was let in makes it durable.
  perform set_config('synchronous_commit', 'off', true);

  -- By their numbers, and what is told of each from a list: joined to the tables, the lists might be what is looked into.
  update flow_key k set version = k.version + 1, wake_at = wakes[array_position(of_keys, k.id)], spent = spents[array_position(of_keys, k.id)],
    spent_in = windows[array_position(of_keys, k.id)] where k.id = any(of_keys);
  for rated in select k.id, k.rate_ms from flow_key k where k.id = any(of_keys) and k.rate_ms > 0 loop
    delete from pace p where p.key = rated.id and p.claimed <= started - rated.rate_ms;
  end loop;
  if cardinality(spends) > 0 then delete from spend w where w.id = any(spends); end if;
  update flow f set version = f.version + 1, pass = passes[array_position(of_flows, f.id)], waits_at = places[array_position(of_flows, f.id)],
    next_at = nexts[array_position(of_flows, f.id)] where f.id = any(of_flows);
  if json_array_length(its.g) > 0 then
    insert into hunger (place, priority, since) select distinct x.p, x.n, started from json_to_recordset(its.g) as x(p text, n int)
    order by 1, 2 on conflict (place, priority) do update set since = excluded.since;
  end if;
  if cardinality(seen) > 0 then delete from arrival a where a.id = any(seen); end if;
  if json_array_length(its.m) + json_array_length(its.o) > 0 then
    insert into arrival (key, queue) select json_array_elements_text(its.m)::int, null
    union all select null, json_array_elements_text(its.o)::int;
  end if;

  if json_array_length(its.b) > 0 then freed := flow_take_back(its.b); end if;
  if json_array_length(its.l) > 0 then let_in := flow_move_in(its.l, started); end if;
  return next;
end $$;
