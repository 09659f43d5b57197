-- For people and reports: `docs/sql.md` says what each column is. Payloads are in it: whoever must not see those is granted
-- columns, not the view. A bundle's lease ends as `leaseEnd` of core/timers.ts says.
-- Caller: people. Index: those of its tables' jobs. Locks: none.
create or replace view pawl.jobs as
select j.id, q.tenant, q.name as queue, k.type,
  case coalesce(substr(r.doc, 7, 1), case when r.id is not null then '{{state.queued}}' when l.claim > 0 or b.id is not null then '{{state.claimed}}'
           when l.id is not null then substr(l.doc, 7, 1) when s.id is not null then coalesce(substr(s.doc, 7, 1), '{{state.pending}}') else p.state::text end)
    {{state.names}} end as state,
  (coalesce(r.step, l.step, b.step, s.step, p.to_step, 0) >> {{bits.generation}})::int as generation,
  ((coalesce(r.step, l.step, b.step, s.step, p.to_step, 0) >> {{bits.attempt}}) & {{mask.attempt}})::bigint as attempt,
  coalesce(r.rev, l.rev, b.rev, s.rev, p.rev, 1) as rev,
  coalesce(r.lane, j.lane) % {{lane.width}} as priority,
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
  select c.id, c.worker, c.at, {{rev.claimed}} as rev, {{step.claimed}}::bigint as step from pawl.claim c
  where r.id is null and l.id is null and s.id is null and p.job is null
    and c.low <= j.id and c.high >= j.id and c.jobs @> array[j.id] limit 1
) b on true;
