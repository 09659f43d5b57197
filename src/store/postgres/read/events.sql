-- For people and reports: what happened to which job, in order, with the time of the commit that wrote it.
-- Caller: people. Index: those of its tables' jobs. Locks: none.
create or replace view pawl.events as
select j.id as job, 1 as rev, 0 as place, 'enqueued' as type, to_timestamp(j.created_at / 1000.0) as at from pawl.job j
union all
select p.job, p.rev, 0, 'claimed', to_timestamp(c.at / 1000.0) from pawl.past p join pawl.claim c on c.id = p.claim
union all
select o.id, o.rev, 0, 'claimed', to_timestamp(c.at / 1000.0) from pawl.owned o join pawl.claim c on c.id = o.claim where not o.logged
union all
select p.job, p.rev, e.n::int - 1, pawl.event_name(substr(ltrim(e.event::text), 3, 1)), to_timestamp(p.at / 1000.0)
from pawl.past p cross join lateral json_array_elements(p.events::json) with ordinality as e(event, n) where e.n > 1;
