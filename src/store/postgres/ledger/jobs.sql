-- For people and reports, as the view of the same name that the store in Postgres has: `docs/sql.md` says what each column is.
-- Caller: people. Index: those of its tables' jobs. Locks: none.
create or replace view pawl.jobs as
select j.id, j.tenant, j.queue, j.type, case j.state::text {{state.names}} end as state, j.generation, j.attempt, j.rev, j.priority,
  to_timestamp(j.created_at / 1000.0) as created_at, to_timestamp(j.ready_at / 1000.0) as ready_at,
  j.worker, to_timestamp(j.lease_expires_at / 1000.0) as lease_expires_at, to_timestamp(j.ended_at / 1000.0) as ended_at,
  j.correlation,
  coalesce(j.input, (select i.value from pawl.image i where i.p = j.p and i.key = j.bodies and i.name = 'input')) as input,
  coalesce(j.output, (select i.value from pawl.image i where i.p = j.p and i.key = j.bodies and i.name = 'output')) as output
from pawl.job j;
