-- Claims that stand, and how they are answered: who enqueues a job gives it to whoever waits for it, in the same commit.

-- Who calls it: whoever begins to listen. One call, so that the name of its channel is in nobody's statistics; the lock
-- is held for as long as somebody is there, and what is said to oneself at once shows that one hears.
create function pawl.hear(channel_name text) returns void
language plpgsql set search_path = pawl, pg_temp as $$
begin
  execute format('listen %I', channel_name);
  perform pg_advisory_lock(hashtextextended(channel_name, 0)), pg_notify(channel_name, '');
end $$;

-- Who calls it: whoever gives jobs away, under planner switches of its own. The claim that stands for a lane, the latest if
-- there are several, or null. Index: standing's primary key, from its end, a bounded part of it: with a snapshot held open
-- elsewhere all that ever stood would have to be walked. Locks: the claim, SKIP LOCKED. Whoever listens holds a lock; where
-- it can be had there is nobody any more.
create function pawl.stands_for(for_lane int, now_ms bigint) returns pawl.standing language plpgsql as $$
declare
  it pawl.standing;
begin
  select * into it from pawl.standing s
  where s.id > (select q.last_value - 256 from pawl.standing_number q) and s.until > now_ms and s.lanes @> array[for_lane]
    and not pg_try_advisory_xact_lock_shared(hashtextextended(s.channel, 0))
  order by s.id desc limit 1 for update skip locked;
  return it;
end $$;

-- Who calls it: whoever gave something to a claim that stands. It stands no more, and who made it is told on its own
-- channel, with all there is to know where that fits.
create function pawl.answer(it pawl.standing, given json) returns void language plpgsql as $$
declare
  words text := json_build_array(it.request, given);
begin
  delete from pawl.standing s where s.id = it.id;
  perform pg_notify(it.channel, case when octet_length(words) < 8000 then words else json_build_array(it.request)::text end);
end $$;

-- Who calls it: insert, in the commit that makes the jobs, instead of telling everybody. Where a claim stands for them it
-- is answered here and now, by the very function that claims: in order, and what is older first. Everybody else is told
-- only if something is left for them. True: nothing is. Not for many at a time: they are the producer's to write, not to
-- hand out.
create function pawl.offer(for_lane int, born bigint[], channel_name text, all_told text, rest_told text) returns boolean
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

-- Who calls it: insert, for one job alone that may be claimed at once and has no clock, where words ride along. What
-- `insert_plain` and `offer` do, without arrays, and where a claim stands for the job and nothing older is in its lane it
-- goes from its producer to its worker without being `ready` in between: half as many statements (1.62 ms to 1.15 for a
-- commit every 5 ms, of which 0.64 are a bare INSERT's; as a single statement no faster).
create function pawl.insert_one(job_id bigint, job_input text, job_head text, born_at bigint, kind_id int, for_lane int,
                                lease_ms int, job_correlation text, job_marks text, birth text,
                                channel_name text, all_told text, rest_told text)
returns table (now_ms bigint, given boolean)
language plpgsql rows 1 set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set plan_cache_mode = force_generic_plan as $$
declare
  it standing;
  claim_id bigint;
begin
  now_ms := clock();
  insert into job (id, created_at, kind, lane, sum, input, head, correlation, marks)
  values (job_id, born_at, kind_id, for_lane, sum_of(job_input), job_input, job_head, job_correlation, job_marks::text[]);
  if job_marks is not null then insert into mark (mark, job) select unnest(job_marks::text[]), job_id; end if;
  it := stands_for(for_lane, now_ms);
  given := it.id is not null and it.wanted > 0 and lease_ms > 0 and born_at <= now_ms
    and not exists (select from ready r where r.lane = for_lane and r.ready_at <= now_ms)
    and not exists (select from claim c where c.request = it.request)
    and not (select q.paused from queue q where q.id = for_lane / 10);
  if given then
    claim_id := nextval('claim_id_seq');
    insert into lease (id, claim, expires_at, rev, step) values (job_id, claim_id, now_ms + lease_ms, 2, 17);
    insert into claim (id, request, request_words, worker, actor, nonce, at, tick, refs, jobs) overriding system value
    values (claim_id, it.request, it.request_words, it.worker, it.actor, it.nonce, now_ms, now_ms + lease_ms, 1, array[job_id]);
    insert into entry (at, claim, jobs, revs, kinds, shapes)
    values (now_ms, null, array[job_id], '{1}', array[kind_id], array[birth]),
           (now_ms, claim_id, '{}', '{2}', array[kind_id], '{qcc}');
    perform answer(it, json_build_array(
      json_build_array(null, now_ms, null, null, it.nonce, null, null, now_ms, false),
      json_build_array(job_id, born_at, kind_id, for_lane, job_head,
                       case when octet_length(job_input) <= least(it.max_bytes, 6000) then job_input end, null, null, null)));
    if rest_told is not null then perform pg_notify(channel_name, rest_told); end if;
  else
    insert into ready (id, ready_at, lane, window_ms, kind, bytes)
    values (job_id, born_at, for_lane, lease_ms, kind_id, coalesce(octet_length(job_input), 0));
    insert into entry (at, jobs, revs, kinds, shapes) values (now_ms, array[job_id], '{1}', array[kind_id], array[birth]);
    if it.id is null then perform pg_notify(channel_name, all_told);
    else given := offer(for_lane, array[job_id], channel_name, all_told, rest_told);
    end if;
  end if;
  return next;
end $$;
