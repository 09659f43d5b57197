-- Claims made in a span of time (`born_between`). A claim that is in the text of a commit is that commit's.
-- Caller: `by-type.ts`. Index: claim_at; past's primary key; those of `owned_of`. Locks: none.
create or replace function pawl.claimed_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language sql stable rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_bitmapscan = off as $$
  select c.job, c.at, case when p.rev is not null then p.rev when o.claim is not null then 0 end
  from (
    select c.id, c.at, u.job from claim c cross join lateral unnest(c.jobs) as u(job)
    where c.at >= from_ms and c.at < to_ms and (to_ms - from_ms > 1 or u.job >= first_job)
    order by c.at, case when to_ms - from_ms <= 1 then u.job end limit row_limit
  ) c
  left join lateral (select p.rev from past p where p.job = c.job and p.claim = c.id limit 1) p on true
  left join lateral (
    select o.claim from owned_of(c.job) o where p.rev is null and o.claim = c.id and not o.logged limit 1
  ) o on true
  order by c.at, c.job
$$;
