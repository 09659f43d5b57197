-- Logs: what happened, by job, by request, by type and time, by correlation. All of it comes in stretches, one per commit,
-- each of which can be read by itself, so that no page reads more of a log than it shows. Sorting is switched off where a
-- walk of the index is in order already: of a log that is thought to be short, all would be read and sorted for one row.

-- What happened, commit by commit, each to be read by itself: with the job it is about, the claim and the heartbeats that
-- are not in the text, the rank of the state that the claim came from, and, of a text that follows another one, that one.
create view pawl.stretch as
select p.job, j.created_at, j.kind, j.lane, j.head, p.at, p.from_rev, p.rev,
  case when p.claim > 0 then (
    select b.to_step & 15 from pawl.past b where b.job = p.job and b.from_rev < p.from_rev order by b.job, b.from_rev desc limit 1
  ) end as rank,
  case when p.from_rev > 1 and p.events like '[0,%' then (
    select json_build_array(case when b.claim > 0 then pawl.claim_words(b.claim) end, b.beats, b.events) from pawl.past b
    where b.job = p.job and b.from_rev < p.from_rev order by b.job, b.from_rev desc limit 1
  ) end as before,
  case when p.claim > 0 then pawl.claim_words(p.claim) end as claim, p.beats, p.events
from pawl.past p join pawl.job j on j.id = p.job;

-- The log of a job after a revision, from the commit that has the next one on. Index: past's primary key.
create function pawl.log(job_id bigint, after_rev int, row_limit int) returns setof pawl.stretch
language sql stable rows 10 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select s.* from stretch s where s.job = job_id and s.rev > after_rev and s.from_rev >= coalesce((
    select p.from_rev from past p where p.job = job_id and p.from_rev <= after_rev order by p.job, p.from_rev desc limit 1), 0)
  order by s.job, s.from_rev limit row_limit
$$;

-- The beginnings of several logs.
create function pawl.logs(ids bigint[], row_limit int) returns setof pawl.stretch
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select l.* from unnest(ids) with ordinality as u(id, n) cross join lateral (
    select s.* from stretch s where s.job = u.id order by s.job, s.from_rev limit row_limit
  ) l order by u.n, l.from_rev
$$;

-- The commits in which revisions are.
create function pawl.commits_at(ids bigint[], revs int[]) returns setof pawl.stretch
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select distinct on (l.job, l.from_rev) l.* from unnest(ids, revs) as u(id, rev) cross join lateral (
    select s.* from stretch s where s.job = u.id and s.from_rev < u.rev order by s.job, s.from_rev desc limit 1
  ) l where l.rev >= u.rev order by l.job, l.from_rev
$$;

-- In which commits requests may be told of. JSON keys: i job, q request. Answers with the place of the item, and with the end
-- of a job that has ended, whichever request was asked for.
create function pawl.caused(items json)
returns table (job bigint, created_at bigint, kind int, lane int, head text, at bigint, from_rev int, rev int, rank bigint,
               before json, claim json, beats jsonb, events text, n int)
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select s.*, x.n::int from rows from (json_to_recordset(items) as (i bigint, q text)) with ordinality as x(i, q, n)
  cross join lateral (
    select a.from_rev from asked a where a.job = x.i and a.request in (request_mark(x.q), 0)
    union
    select l.from_rev from (
      select p.from_rev, p.state from past p where p.job = x.i order by p.job, p.from_rev desc limit 1
    ) l where l.state is not null
  ) a
  cross join lateral (select s.* from stretch s where s.job = x.i and s.from_rev = a.from_rev limit 1) s
  order by x.n, a.from_rev
$$;

-- Jobs that have one of these correlations, and events of others that have, in order of their numbers. Index:
-- job_correlation; link's primary key.
create function pawl.correlated(marks text[], own bigint, first_job bigint, row_limit int) returns setof bigint
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select u.id from (
    select c.id from unnest(marks) as m(mark) cross join lateral (
      select j.id from job j where j.correlation = m.mark and j.id >= first_job order by j.id limit row_limit) c
    union select j.id from job j where j.id = own and j.id >= first_job
  ) as u(id) order by u.id limit row_limit
$$;

create function pawl.linked(marks text[], after_job bigint, after_rev int, row_limit int) returns table (job bigint, rev int)
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select l.job, l.rev from unnest(marks) as m(mark) cross join lateral (
    select l.job, l.rev from link l where l.correlation = m.mark and (l.job, l.rev) > (after_job, after_rev)
    order by l.job, l.rev limit row_limit
  ) l order by l.job, l.rev limit row_limit
$$;

-- What happened in a span of time: jobs born, claims made, commits written; each with its job, its time, and the revision of
-- the commit that tells of it (0: none does yet; null: none, or another source does). `row_limit` of them at most; who gets as many asks for a shorter span. Of a
-- single moment they come in order of the jobs, from one on.

-- Index: job_created, and nothing else may be walked.
create function pawl.born_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language plpgsql stable rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan as $$
begin
  if to_ms - from_ms > 1 then
    return query select j.id, j.created_at, 1 from job j where j.created_at >= from_ms and j.created_at < to_ms limit row_limit;
  else
    return query select j.id, j.created_at, 1 from job j where j.created_at = from_ms and j.id >= first_job order by j.id limit row_limit;
  end if;
end $$;

-- Index: claim_at. A claim that is in the text of a commit is that commit's.
create function pawl.claimed_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language sql stable rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select c.job, c.at, case when p.rev is not null then p.rev when l.claim = c.id then 0
      when c.low is not null and l.claim is null and c.job <> all(coalesce(c.loose, '{}'))
           and not exists (select from past p where p.job = c.job) then 0 end
  from (
    select c.id, c.at, c.low, c.loose, u.job from claim c cross join lateral unnest(c.jobs) as u(job)
    where c.at >= from_ms and c.at < to_ms and (to_ms - from_ms > 1 or u.job >= first_job)
    order by c.at, case when to_ms - from_ms <= 1 then u.job end limit row_limit
  ) c
  left join lateral (select p.rev from past p where p.job = c.job and p.claim = c.id limit 1) p on true
  left join lateral (select l.claim from lease l where l.id = c.job limit 1) l on true
  order by c.at, c.job
$$;

-- Those that are not a plain success, in order of their times, or all. Index: past_odd; past_at, and nothing else may be walked.
create function pawl.odd_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language sql stable rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select p.job, p.at, p.rev from past p
  where not p.plain and p.at >= from_ms and p.at < to_ms and (to_ms - from_ms > 1 or p.job >= first_job)
  order by p.at, p.job limit row_limit
$$;

create function pawl.committed_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language plpgsql stable rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan as $$
begin
  if to_ms - from_ms > 1 then
    return query select p.job, p.at, p.rev from past p where p.at >= from_ms and p.at < to_ms limit row_limit;
  else
    return query select p.job, p.at, p.rev from past p where p.at = from_ms and p.job >= first_job order by p.job, p.rev limit row_limit;
  end if;
end $$;

-- Which of these jobs are a tenant's.
create function pawl.jobs_of(tenant_name text, ids bigint[]) returns setof bigint
language sql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select j.id from unnest(ids) as u(id) join job j on j.id = u.id join queue q on q.id = j.lane / 10 where q.tenant = tenant_name
$$;
