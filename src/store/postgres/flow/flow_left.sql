-- What becomes of the slots of jobs that have moved, and what they have spent. Locks nothing that others share, for it may be in a
-- transaction of a caller's. JSON keys: i job, f the flow it is in now, m what becomes of its place (core/flow/membership.ts);
-- sp what it has spent, each with a amount, and k key where it is not all of them.
-- Caller: `flow_move_some`. Index: flow's and flow_key's primary keys; those of `flow_free`. Locks: the jobs' slots.
create or replace function pawl.flow_left(items json, started bigint) returns void language plpgsql as $$
declare
  freed json;
  is_owned boolean;
  has_spent boolean;
begin
  select json_agg(json_build_object('i', x.i, 'f', case when x.m = 'hold' then x.f end)) filter (where x.m in ('hold', 'leave')),
         coalesce(bool_or(x.m = 'own'), false), count(x.sp) > 0 into freed, is_owned, has_spent
  from json_to_recordset(items) as x(i bigint, f int, m text, sp json);
  if freed is not null then perform pawl.flow_free(freed, started); end if;
  if is_owned then
    insert into pawl.slot (key, job, flow, let_in, claimed)
    select unnest(f.keys), x.i, x.f, started, started from json_to_recordset(items) as x(i bigint, f int, m text)
    cross join lateral (select f.keys from pawl.flow f where f.id = x.f limit 1) f where x.m = 'own'
    on conflict (key, job) do update set claimed = excluded.claimed;
  end if;
  if not has_spent then return; end if;
  with spent as (
    insert into pawl.spend (key, at, amount)
    select k.id, started, s.a from json_to_recordset(items) as x(f int, sp json)
    cross join lateral json_to_recordset(x.sp) as s(a numeric, k text)
    cross join lateral (select f.keys from pawl.flow f where f.id = x.f limit 1) f
    cross join lateral unnest(f.keys) as i(id)
    cross join lateral (select k.id from pawl.flow_key k where k.id = i.id and k.per_ms > 0 and (s.k is null or k.key = s.k) limit 1) k
    where x.sp is not null returning key
  )
  insert into pawl.arrival (key) select distinct s.key from spent s;
end $$;
