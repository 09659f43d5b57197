-- As `let_go`, of jobs that the caller knows to be in bundles: each in the one that is named beside it. They leave it by what the
-- caller writes into `past`, and are to be counted (`count_ended`). Those that are not in it any more are not answered with.
-- Caller: `put_back`, under whose planner switches it runs. Index: claim's primary key. Locks: the bundles, shared.
create or replace function pawl.let_go_bundled(ids bigint[], bundles bigint[],
  out jobs bigint[], out claims bigint[], out revs int[], out from_steps bigint[], out steps bigint[]) language plpgsql as $$
declare
  of_them bigint[] := array(select distinct u from unnest(bundles) as u order by u);
begin
  -- What others did before they let go must be seen, and would not be in an older snapshot.
  if current_setting('transaction_isolation') <> 'read committed' then return; end if;
  -- As in `settle_bundles`.
  perform set_config('lock_timeout', '5s', true);
  perform pg_advisory_xact_lock_shared(hashtextextended('pawl.claim', u.id)) from unnest(of_them) as u(id);
  perform set_config('lock_timeout', '100ms', true);
  select array_agg(x.id), array_agg(x.claim), array_agg({{rev.claimed}}), array_agg({{step.enqueued}}::bigint),
         array_agg({{step.claimed}}::bigint)
    into jobs, claims, revs, from_steps, steps
  from (
    (select unnest(ids) as id, unnest(bundles) as claim
     intersect select unnest(k.jobs), k.id from pawl.claim k where k.id = any(of_them) and k.low is not null
     except select unnest(k.loose), k.id from pawl.claim k where k.id = any(of_them))
    order by id
  ) as x;
end $$;
