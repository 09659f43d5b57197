-- Gives jobs that are ready to one claimer, lane by lane in the order asked (lanes are different ones), and answers with one row: what
-- the claim is, then its jobs as columns, which are null where there are none.
--
--   replay  the request is known: what of it is still owned, under the nonce and the time it had (`claim_replay`).
--   take    rows of `ready` are chosen and locked (`claim_take`). None: the claim is parked, if it may be (`claim_park`).
--   stamp   from `ready` into a lease each, or, where they are many and untouched, into a bundle, which is the claim's own row; and
--           into the feed (`claim_stamp`).
--   answer  what the caller cannot compute (`claim_answer`): it knows the lease's end, the attempt, and how far a lane was read.
--
-- A request is answered with jobs once: its row in `claim` is made in the same statement that takes them, and has its name for
-- as long as they live.
-- Caller: `claims.ts`, `offer`. Index: claim's request; those of the functions it calls. Locks: a claim that is parked under this
-- request, for which it waits; those of the functions it calls.
create or replace function pawl.claim(request_id text, request_text text, worker_id text, actor_name text, nonce_text text,
                           lanes int[], starts bigint[], wanted int, max_bytes bigint,
                           was_parked boolean default false, park_ms bigint default null, park_channel text default null)
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
  one_kind int;
  one_lane int;
  is_bundle boolean;
begin
  -- Waits for a transaction that is answering it just now.
  if was_parked then delete from parked p where p.request = request_id; end if;
  select c.id into claim_id from claim c where c.request = request_id;
  if claim_id is not null then
    return query select started, r.* from claim_replay(claim_id, max_bytes, started) as r;
    return;
  end if;
  is_repeat := false;
  nonce := nonce_text;

  -- Statements that hand each other arrays: as one statement, whose parts read each other's rows, it cost 1.1 µs more
  -- per job, and 2.0 with running sums. Called by assignments, which take no plan and no executor.
  taken := claim_take(lanes, starts, wanted, started);
  if taken.ids is null then
    now_ms := started; claimed_at := started; is_parked := park_ms > 0;
    if is_parked then
      perform claim_park(request_id, request_text, worker_id, actor_name, nonce_text, lanes, wanted, max_bytes, started + park_ms, park_channel);
    end if;
    return next;
    return;
  end if;

  -- Few jobs have leases at once: a bundle would cost them more than it saves. Tests have bundles of any size.
  is_bundle := taken.touched = 0 and taken.first_tick is null
    and cardinality(taken.ids) >= coalesce(nullif(current_setting('pawl_bundle.least', true), '')::int, {{bundle.from}});
  if taken.first_kind = taken.last_kind then one_kind := taken.first_kind; end if;
  if is_bundle then
    -- They are in the order of their lanes: where the first and the last are in one, all are.
    select a.lane into one_lane from ready a join ready z on z.lane = a.lane
    where a.ctid = taken.tids[1] and z.ctid = taken.tids[cardinality(taken.tids)];
  end if;
  claim_id := claim_stamp(taken.at, taken.tids, one_kind, taken.touched > 0, is_bundle);
  insert into claim (id, request, request_words, worker, actor, nonce, at, tick, refs, jobs, low, high, open)
  overriding system value
  values (claim_id, request_id, request_text, worker_id, actor_name, nonce_text, taken.at,
          least(taken.first_tick, taken.at + taken.shortest_ms), cardinality(taken.ids), taken.ids, case when is_bundle then taken.lowest end,
          case when is_bundle then taken.highest end, case when is_bundle then cardinality(taken.ids) end);
  now_ms := taken.at; claimed_at := taken.at; is_parked := false;
  if is_bundle then bundle := claim_id; end if;
  if taken.touched = 0 and taken.bytes <= max_bytes then
    return query select now_ms, claimed_at, nonce, bundle, is_repeat, is_parked, a.*, null::int[]
      from claim_answer(taken.ids, one_kind, one_lane, E'\x1f' || nonce) as a;
  else
    return query select now_ms, claimed_at, nonce, bundle, is_repeat, is_parked, a.*, null::int[]
      from claim_answer_each(taken.ids, max_bytes, E'\x1f' || nonce) as a;
  end if;
end $$;
