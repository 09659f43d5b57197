-- Who calls it: insert, for one job alone that may be claimed at once and has no clock, where words ride along. What
-- `insert_plain` and `offer` do, without arrays, and where a claim stands for the job and nothing older is in its lane it
-- goes from its producer to its worker without being `ready` in between: half as many statements (1.62 ms to 1.15 for a
-- commit every 5 ms, of which 0.64 are a bare INSERT's; as a single statement no faster).
create or replace function pawl.insert_one(job_id bigint, job_input text, job_head text, born_at bigint, kind_id int, for_lane int,
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
