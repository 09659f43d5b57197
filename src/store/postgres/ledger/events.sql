-- For people and reports, as the view of the same name that the store in Postgres has: what happened to which job, in order.
-- Caller: people. Index: those of its tables' jobs. Locks: none.
create or replace view pawl.events as
select j.id as job, 1 as rev, 0 as place, 'enqueued' as type, to_timestamp(j.created_at / 1000.0) as at from pawl.job j
union all
select j.id, j.rev, 0, 'claimed', to_timestamp(j.claimed_at / 1000.0) from pawl.job j where j.claimed_at is not null
union all
select e.job, e.rev, 0, 'claimed', to_timestamp(e.claimed_at / 1000.0) from pawl.past e where e.claimed_at is not null
union all
select e.job, e.rev, l.n::int, case l.letter {{event.names}} end, to_timestamp(e.at / 1000.0)
from pawl.past e cross join lateral string_to_table(e.letters, null) with ordinality as l(letter, n);
