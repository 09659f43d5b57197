-- Gives jobs that were just inserted to a claim that is parked for their lane, in the commit that makes them, by the very
-- function that claims: in order, the oldest of the lane first. Everybody else is notified (`all_told`) only if some of them are
-- left; of whatever else there was to say (`rest_told`) in any case. True: none is left. Not above 16 jobs: the producer's
-- commit would pay for the worker's claim.
-- Caller: `insert.ts`, in one statement with the insert. Index: those of `parked_for` and `claim`. Locks: those of `parked_for`
-- and `claim`.
create or replace function pawl.offer(for_lane int, born bigint[], channel_name text, all_told text, rest_told text) returns boolean
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set plan_cache_mode = force_generic_plan as $$
declare
  it parked;
  given json;
  taken bigint[];
begin
  if cardinality(born) <= 16 then it := parked_for(for_lane, clock()); end if;
  if it.id is not null then
    -- As the driver would hand it over: lists as texts.
    select json_build_array(c.now_ms, c.claimed_at, c.nonce, c.bundle, c.is_repeat, c.is_parked, c.ids::text, c.times::text,
                            c.kinds::text, c.job_lanes::text, c.heads, c.inputs, c.docs, c.logged_attempts::text), c.ids
      into given, taken
    from claim(it.request, it.request_words, it.worker, it.actor, it.nonce, array[for_lane], '{0}',
               it.wanted, least(it.max_bytes, 6000)) as c;
    if taken is not null then
      perform answer(it, given);
      if taken @> born then
        if rest_told is not null then perform pg_notify(channel_name, rest_told); end if;
        return true;
      end if;
    end if;
  end if;
  perform pg_notify(channel_name, all_told);
  return false;
end $$;
