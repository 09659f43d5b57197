-- Claims that stand, and how they are answered: who enqueues a job gives it to whoever waits for it, in the same commit.
--
-- Who calls it: insert, in the commit that makes the jobs, instead of telling everybody. Where a claim stands for them it
-- is answered here and now, by the very function that claims: in order, and what is older first. Everybody else is told
-- only if something is left for them. True: nothing is. Not for many at a time: they are the producer's to write, not to
-- hand out.
create or replace function pawl.offer(for_lane int, born bigint[], channel_name text, all_told text, rest_told text) returns boolean
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set plan_cache_mode = force_generic_plan as $$
declare
  it standing;
  given json;
  taken bigint[];
begin
  if cardinality(born) <= 16 then it := stands_for(for_lane, clock()); end if;
  if it.id is not null then
    select json_agg(json_build_array(c.id, c.created_at, c.kind, c.lane, c.head, c.input, c.doc, c.step, c.flushed)),
           array_agg(c.id)
      into given, taken
    from claim(it.request, it.request_words, it.worker, it.actor, it.nonce, array[for_lane], '{0}',
               it.wanted, least(it.max_bytes, 6000), as_rows => true) as c;
    if cardinality(taken) > 1 then
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
