-- For people and reports: `docs/sql.md` says what each column is. Payloads are in it: a role that must not see those is granted
-- columns, not the view.
-- Caller: people. Index: those of its tables' jobs. Locks: none.
create or replace view pawl.jobs as
select j.id, q.tenant, q.name as queue, k.type,
  case coalesce(substr(r.doc, 7, 1), case when r.id is not null then '{{state.queued}}' when not o.logged then '{{state.claimed}}'
           when o.logged then substr(o.doc, 7, 1) when s.id is not null then coalesce(substr(s.doc, 7, 1), '{{state.pending}}') else p.state::text end)
    {{state.names}} end as state,
  (coalesce(r.step, o.step, s.step, p.to_step, 0) >> {{bits.generation}})::int as generation,
  ((coalesce(r.step, o.step, s.step, p.to_step, 0) >> {{bits.attempt}}) & {{mask.attempt}})::bigint as attempt,
  coalesce(r.rev, o.rev, s.rev, p.rev, 1) as rev,
  coalesce((select f.priority from pawl.flow f where f.id = -r.lane), coalesce(r.lane, j.lane) % {{lane.width}}) as priority,
  to_timestamp(j.created_at / 1000.0) as created_at,
  to_timestamp(coalesce(r.held_at, r.ready_at) / 1000.0) as ready_at,
  c.worker as worker, to_timestamp(o.expires_at / 1000.0) as lease_expires_at,
  to_timestamp(p.at / 1000.0) as ended_at,
  btrim((case when j.correlation is not null then coalesce(j.head::json -> 'c', j.head::json -> 'q') end)::text, '"') as correlation,
  j.input, p.output
from pawl.job j
join pawl.kind k on k.id = j.kind
join pawl.queue q on q.id = k.queue
left join pawl.ready r on r.id = j.id
left join pawl.owned o on o.id = j.id
left join pawl.claim c on c.id = o.claim
left join pawl.rest s on s.id = j.id
left join lateral (
  select p.* from pawl.past p where p.job = j.id and r.id is null and o.id is null and s.id is null
  order by p.job, p.from_rev desc limit 1
) p on true;
