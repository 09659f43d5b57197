-- As `claim`, for lanes of which some are limited: of jobs that were let in it takes `free` at most, and stamps their slots, locking no
-- key. Never a bundle: a job with slots has a lease of its own. Answers as `claim` does.
-- Caller: `claims.ts`. Index: claim's request, slot_job; those of the functions it calls. Locks: those of `claim`; the slots of what it takes.
create or replace function pawl.claim_limited(request_id text, request_text text, worker_id text, actor_name text, nonce_text text,
                           lanes int[], starts bigint[], wanted int, max_bytes bigint, was_parked boolean, park_ms bigint, park_channel text, free int)
returns table (now_ms bigint, claimed_at bigint, nonce text, bundle bigint, is_repeat boolean, is_parked boolean,
               ids bigint[], times bigint[], kinds int[], job_lanes int[], heads text, inputs text, docs text, logged_attempts int[])
language plpgsql rows 1
set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_incremental_sort = off set enable_material = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  claim_id bigint;
  taken record;
begin
  if was_parked then delete from parked p where p.request = request_id; end if;
  select c.id into claim_id from claim c where c.request = request_id;
  if claim_id is not null then
    return query select started, r.* from claim_replay(claim_id, max_bytes, started) as r;
    return;
  end if;
  is_repeat := false;
  nonce := nonce_text;
  taken := claim_take_limited(lanes, starts, wanted, free, started);
  if taken.ids is null then
    now_ms := started; claimed_at := started; is_parked := park_ms > 0;
    if is_parked then
      perform claim_park(request_id, request_text, worker_id, actor_name, nonce_text, lanes, wanted, max_bytes, started + park_ms, park_channel);
    end if;
    return next;
    return;
  end if;
  claim_id := claim_stamp(taken.at, taken.tids, case when taken.first_kind = taken.last_kind then taken.first_kind end, taken.touched > 0, false);
  insert into claim (id, request, request_words, worker, actor, nonce, at, tick, refs, jobs) overriding system value
  values (claim_id, request_id, request_text, worker_id, actor_name, nonce_text, taken.at,
          least(taken.first_tick, taken.at + taken.shortest_ms), cardinality(taken.ids), taken.ids);
  update slot s set claimed = taken.at where s.job = any(taken.ids);
  return query select taken.at, taken.at, nonce_text, null::bigint, false, false, a.*, null::int[]
    from claim_answer_each(taken.ids, max_bytes, E'\x1f' || nonce_text) as a;
end $$;
