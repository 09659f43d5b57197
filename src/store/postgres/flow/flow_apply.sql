-- Applies what core made of a look: jobs that are let in, each with a slot of every key it has, or taken back; flows as they are now.
-- All of it if the keys and flows are at the versions they were seen at, the queues as they were, and the lanes no fuller; else nothing.
-- That is what keeps two rounds from giving one slot twice, and a flow from waiting at a key that was looked at since, for every
-- round counts the versions of what it looked at up.
-- Slots that were freed since the look make room for more; what was claimed since is counted either way; so a count that was right then is not too low now.
-- A job whose row somebody has locked is waited for by nobody: its flow is looked at again at once, as is one whose job is gone.
-- JSON keys: a arrivals that were seen; k keys, with i number, v version, w when to look again, s spent, n in which window, c what of
-- `spend` is counted in it; f flows, with i number, v version, p pass, w place, n next look; q queues, with i number, z paused; s lanes,
-- with i number, n how many stood there; l jobs let in, b taken back, each with i job, f flow; g places that were served or that
-- somebody waits at first, with p place, n priority; m keys and o queues that are to be looked at again. Answers with how many were let
-- in, and the keys that were freed by taking back.
-- Caller: `rounds.ts`. Index: the primary keys of flow_key, flow, queue, arrival, spend and hunger, ready_id, slot_job, pace_key. Locks: the
-- keys, in their order; the flows and the queues, in theirs; rows of `ready`, SKIP LOCKED.
create or replace function pawl.flow_apply(plan json) returns table (applied boolean, let_in int, freed int[])
language plpgsql rows 1 set search_path = pawl, pg_temp set lock_timeout = '1s' set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  of_keys int[]; of_flows int[]; of_queues int[];
  it record;
  window_ms bigint;
begin
  of_keys := array(select x.i from json_to_recordset(plan -> 'k') as x(i int));
  of_flows := array(select x.i from json_to_recordset(plan -> 'f') as x(i int));
  of_queues := array(select x.i from json_to_recordset(plan -> 'q') as x(i int));
  perform from flow_key k where k.id = any(of_keys) order by k.id for no key update;
  perform from flow f where f.id = any(of_flows) order by f.id for no key update;
  perform from queue q where q.id = any(of_queues) order by q.id for no key update;
  -- Compared by later statements than those that may have waited: these see what was committed meanwhile.
  applied := not exists (select from json_to_recordset(plan -> 'k') as x(i int, v bigint)
                         cross join lateral (select from flow_key k where k.id = x.i and k.version <> x.v limit 1) k)
    and not exists (select from json_to_recordset(plan -> 'f') as x(i int, v bigint)
                    cross join lateral (select from flow f where f.id = x.i and f.version <> x.v limit 1) f)
    and not exists (select from json_to_recordset(plan -> 'q') as x(i int, z boolean)
                    cross join lateral (select from queue q where q.id = x.i and q.paused <> x.z limit 1) q)
    and not exists (select from json_to_recordset(plan -> 's') as x(i int, n int) where x.n < (
                      select count(*) from (select from ready r where r.lane = x.i + {{lane.letIn}} limit x.n + 1) as r));
  let_in := 0;
  if not applied then return next; return; end if;

  -- One after the other, each by its number: joined to the tables, the lists might be what is looked into.
  for it in select * from json_to_recordset(plan -> 'k') as x(i int, w bigint, s numeric, n bigint, c bigint[]) loop
    update flow_key k set version = k.version + 1, wake_at = it.w, spent = it.s, spent_in = it.n where k.id = it.i returning k.rate_ms into window_ms;
    delete from pace p where p.key = it.i and p.claimed <= started - window_ms;
    if cardinality(it.c) > 0 then delete from spend w where w.id = any(it.c); end if;
  end loop;
  for it in select * from json_to_recordset(plan -> 'f') as x(i int, p double precision, w text, n bigint) loop
    update flow f set version = f.version + 1, pass = it.p, waits_at = it.w, next_at = it.n where f.id = it.i;
  end loop;
  insert into hunger (place, priority, since) select distinct x.p, x.n, started from json_to_recordset(plan -> 'g') as x(p text, n int)
  order by 1, 2 on conflict (place, priority) do update set since = excluded.since;
  delete from arrival a where a.id = any(array(select json_array_elements_text(plan -> 'a')::bigint));
  insert into arrival (key, queue) select json_array_elements_text(plan -> 'm')::int, null
  union all select null, json_array_elements_text(plan -> 'o')::int;

  if json_array_length(plan -> 'b') > 0 then freed := flow_take_back(plan -> 'b'); end if;
  if json_array_length(plan -> 'l') > 0 then let_in := flow_move_in(plan -> 'l', started); end if;
  return next;
end $$;
