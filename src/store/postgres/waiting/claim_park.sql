-- Parks a claim that found nothing: until then, the transaction that enqueues something for it answers it on its channel.
-- Caller: `claim`, `claim_limited`. Index: parked's request. Locks: its own row.
create or replace function pawl.claim_park(request_id text, request_text text, worker_id text, actor_name text, nonce_text text,
  wanted_lanes int[], wanted_jobs int, bytes bigint, until_ms bigint, channel_name text) returns void language sql as $$
  insert into pawl.parked (request, request_words, worker, actor, nonce, lanes, wanted, max_bytes, until, channel)
  values (request_id, request_text, worker_id, actor_name, nonce_text, wanted_lanes, wanted_jobs, bytes, until_ms, channel_name)
  -- There already: an earlier try that was not answered.
  on conflict (request) do update set nonce = excluded.nonce, until = excluded.until, channel = excluded.channel
$$;
