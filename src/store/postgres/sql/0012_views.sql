-- For people and reports: `docs/sql.md` says what each column is. Payloads are in them: whoever must not see those is granted
-- columns, not the view.

create view pawl.jobs as
select j.id, q.tenant, q.name as queue, k.type,
  case coalesce(substr(r.doc, 7, 1), case when r.id is not null then 'q' when l.claim > 0 or b.id is not null then 'c'
           when l.id is not null then substr(l.doc, 7, 1) when s.id is not null then coalesce(substr(s.doc, 7, 1), 'n') else p.state::text end)
    when 'n' then 'pending' when 'c' then 'claimed' when 'r' then 'running' when 'w' then 'waiting' when 'p' then 'parked'
    when 'l' then 'stalled' when 't' then 'retrying' when 'q' then 'queued' when 'S' then 'succeeded' when 'F' then 'failed'
    when 'C' then 'cancelled' when 'T' then 'timed_out' when 'D' then 'denied' when 'L' then 'dead_lettered' end as state,
  (coalesce(r.step, l.step, b.step, s.step, p.to_step, 0) >> 36)::int as generation,
  ((coalesce(r.step, l.step, b.step, s.step, p.to_step, 0) >> 4) & 4294967295)::bigint as attempt,
  coalesce(r.rev, l.rev, b.rev, s.rev, p.rev, 1) as rev,
  coalesce(r.lane, j.lane) % 10 as priority,
  to_timestamp(j.created_at / 1000.0) as created_at,
  to_timestamp(r.ready_at / 1000.0) as ready_at,
  coalesce(c.worker, b.worker) as worker, to_timestamp(coalesce(l.expires_at, b.at + k.window_ms) / 1000.0) as lease_expires_at,
  to_timestamp(p.at / 1000.0) as ended_at,
  btrim((case when j.correlation is not null then coalesce(j.head::json -> 'c', j.head::json -> 'q') end)::text, '"') as correlation,
  j.input, p.output
from pawl.job j
join pawl.kind k on k.id = j.kind
join pawl.queue q on q.id = k.queue
left join pawl.ready r on r.id = j.id
left join pawl.lease l on l.id = j.id
left join pawl.claim c on c.id = abs(l.claim)
left join pawl.rest s on s.id = j.id
left join lateral (
  select p.* from pawl.past p where p.job = j.id and r.id is null and l.id is null and s.id is null
  order by p.job, p.from_rev desc limit 1
) p on true
left join lateral (
  select c.id, c.worker, c.at, 2 as rev, 17::bigint as step from pawl.claim c
  where r.id is null and l.id is null and s.id is null and p.job is null
    and c.low <= j.id and c.high >= j.id and c.jobs @> array[j.id] limit 1
) b on true;

create function pawl.event_name(letter text) returns text language sql immutable as $$
  select case letter
    when 'e' then 'enqueued' when 'a' then 'admitted' when 'D' then 'denied' when 'c' then 'claimed' when 's' then 'started'
    when 'w' then 'waiting' when 'p' then 'parked' when 'g' then 'signalled' when 'o' then 'wait_timed_out'
    when 'r' then 'released' when 't' then 'retry_scheduled' when 'l' then 'stalled' when 'q' then 'requeued'
    when 'C' then 'cancelled' when 'S' then 'succeeded' when 'F' then 'failed' when 'T' then 'timed_out'
    when 'L' then 'dead_lettered' when 'u' then 'compensating' when 'R' then 'reopened' when 'h' then 'heartbeat'
    when 'P' then 'progressed' when 'k' then 'checkpointed' when 'd' then 'recorded' when 'G' then 'signal_stored'
    when 'x' then 'cancel_requested' when 'y' then 'rescheduled' when 'U' then 'compensated' when 'z' then 'compacted' end
$$;

-- What happened to which job, in order, with the time of the commit that wrote it.
create view pawl.events as
select j.id as job, 1 as rev, 0 as place, 'enqueued' as type, to_timestamp(j.created_at / 1000.0) as at from pawl.job j
union all
select p.job, p.rev, 0, 'claimed', to_timestamp(c.at / 1000.0) from pawl.past p join pawl.claim c on c.id = p.claim
union all
select l.id, l.rev, 0, 'claimed', to_timestamp(c.at / 1000.0) from pawl.lease l join pawl.claim c on c.id = l.claim
union all
select b.id, 2, 0, 'claimed', to_timestamp(b.at / 1000.0) from pawl.bundled b
union all
select p.job, p.rev, e.n::int - 1, pawl.event_name(substr(ltrim(e.event::text), 3, 1)), to_timestamp(p.at / 1000.0)
from pawl.past p cross join lateral json_array_elements(p.events::json) with ordinality as e(event, n) where e.n > 1;
