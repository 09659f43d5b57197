-- Settings, annotations, compaction, retention.

-- JSON keys: o operation (g get, l list, p put, r remove), c collection, k key, n its words where the key is a hash,
-- t text, r rev, a after, m limit; of a queue's document z paused, h hash, tn tenant, q queue.
create function pawl.settings(operations json) returns table (now_ms bigint, answers json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '5s' as $$
declare
  started bigint := clock();
  x record;
  found_rows json;
  fine boolean;
  all_answers json[] := '{}';
begin
  for x in select * from json_to_recordset(operations) as x(o text, c text, k text, n text, t text, r bigint, a text, m int,
                                                            z boolean, h text, tn text, q text) loop
    fine := true;
    found_rows := null;
    if x.o = 'l' then
      select json_agg(json_build_array(s.key, s.name, s.text, s.rev, s.updated_at) order by s.key) into found_rows from
        (select * from setting s where s.collection = x.c and s.key > x.a order by s.key limit x.m) s;
    elsif x.o = 'p' then
      if x.r is null then
        insert into setting as s (collection, key, name, text, rev, updated_at) values (x.c, x.k, x.n, x.t, 1, started)
        on conflict (collection, key) do update set text = excluded.text, rev = s.rev + 1, updated_at = excluded.updated_at;
      elsif x.r = 0 then
        insert into setting (collection, key, name, text, rev, updated_at) values (x.c, x.k, x.n, x.t, 1, started)
        on conflict do nothing;
        fine := found;
      else
        update setting s set text = x.t, rev = s.rev + 1, updated_at = started
        where s.collection = x.c and s.key = x.k and s.rev = x.r;
        fine := found;
      end if;
      if fine and x.h is not null then
        insert into queue (hash, tenant, name, paused) values (x.h, x.tn, x.q, x.z)
        on conflict (hash) do update set paused = excluded.paused;
      end if;
    elsif x.o = 'r' then
      delete from setting s where s.collection = x.c and s.key = x.k and (x.r is null or s.rev = x.r);
      fine := found or not exists (select from setting s where s.collection = x.c and s.key = x.k) and coalesce(x.r, 0) = 0;
      if fine and x.h is not null then update queue set paused = false where hash = x.h; end if;
    end if;
    if x.o in ('g', 'p') or not fine then
      select json_agg(json_build_array(s.key, s.name, s.text, s.rev, s.updated_at)) into found_rows
      from setting s where s.collection = x.c and s.key = x.k;
    end if;
    all_answers := all_answers || json_build_array(fine, coalesce(found_rows, '[]'));
  end loop;
  return query select started, array_to_json(all_answers);
end $$;

-- A word that came too late, once per (job, generation, attempt, command). 'c' where there is no such job.
create function pawl.annotate(job_id bigint, generation_no int, attempt_no int, command_word text, at_ms bigint,
                              actor_name text, request_id text, correlation_id text) returns text
language plpgsql set search_path = pawl, pg_temp as $$
begin
  if not exists (select from job j where j.id = job_id) then return 'c'; end if;
  insert into annotation (job, generation, attempt, command, at, actor, request, correlation)
  values (job_id, generation_no, attempt_no, command_word, at_ms, actor_name, request_id, correlation_id)
  on conflict do nothing;
  return 'a';
end $$;

create function pawl.annotations(job_id bigint)
returns table (generation int, attempt int, command text, at bigint, actor text, request text, correlation text)
language sql stable set search_path = pawl, pg_temp as $$
  select a.generation, a.attempt, a.command, a.at, a.actor, a.request, a.correlation from annotation a
  where a.job = job_id order by a.generation, a.attempt, a.at, a.command
$$;

-- Replaces the whole history of an ended job by one row with the same end. The caller has read it, and it is as it was.
create function pawl.compact(job_id bigint, at_rev int, row_count int, events_text text, doc_text text) returns text
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' as $$
declare
  last past;
  first past;
  n int;
begin
  select * into last from past p where p.job = job_id and p.rev = at_rev and p.state is not null for update;
  if not found then return 'c'; end if;
  select count(*) into n from past p where p.job = job_id;
  if n <> row_count or exists (select from past p where p.job = job_id and p.rev > at_rev)
     or exists (select from ready r where r.id = job_id) or exists (select from lease l where l.id = job_id)
     or exists (select from rest r where r.id = job_id) then return 'c'; end if;
  select * into first from past p where p.job = job_id order by p.job, p.from_rev limit 1;
  update claim c set refs = c.refs - d.n from
    (select abs(p.claim) as id, count(*) as n from past p where p.job = job_id and p.claim is not null group by 1) d
  where c.id = d.id;
  delete from past p where p.job = job_id;
  delete from asked a where a.job = job_id;
  insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
  values (job_id, last.at, -9223372036854775807, first.from_step, last.to_step, last.rev, first.from_rev, last.state,
          last.plain, events_text, last.output, doc_text);
  return 'a';
end $$;

-- Removes ended jobs with all that is theirs, if they are still at that revision. Answers with those it removed.
-- JSON keys: i id, r rev, k kind, z state.
create function pawl.purge(items json) returns table (now_ms bigint, removed json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' as $$
declare
  started bigint := clock();
  ids bigint[];
  freed bigint[];
begin
  ids := array(
    select p.job from json_to_recordset(items) as x(i bigint, r int) join past p on p.job = x.i and p.rev = x.r
    where p.state is not null order by p.job for update of p);
  -- In a statement of its own: whoever held the lock may have reopened or removed it.
  ids := array(
    select u.id from unnest(ids) as u(id) join json_to_recordset(items) as x(i bigint, r int) on x.i = u.id
    where exists (select from past p where p.job = u.id and p.rev = x.r)
      and not exists (select from past p where p.job = u.id and p.rev > x.r)
      and not exists (select from ready r where r.id = u.id) and not exists (select from lease l where l.id = u.id)
      and not exists (select from rest r where r.id = u.id));
  if cardinality(ids) > 0 then
    -- What is removed must not look as if it had yet to end.
    perform loosen_from(c.id, array(select unnest(c.jobs) intersect select unnest(ids))) from (
      select c.id, c.jobs from claim c where c.low is not null and c.jobs && ids
        and c.low <= (select max(u) from unnest(ids) as u) and c.high >= (select min(u) from unnest(ids) as u) order by c.id
    ) as c;
    with gone as (delete from past p where p.job = any(ids) returning p.claim),
    counted as (select abs(g.claim) as id, count(*)::int as n from gone g where g.claim is not null group by 1),
    left_over as (update claim c set refs = c.refs - d.n from counted d where c.id = d.id returning c.id, c.refs)
    select array_agg(o.id) into freed from left_over o where o.refs <= 0;
    delete from claim c where c.id = any(freed) and not exists (select from entry e where e.claim = c.id);
    delete from body b where b.job = any(ids);
    delete from key k where k.job = any(ids);
    delete from annotation a where a.job = any(ids);
    delete from link l where l.job = any(ids);
    delete from asked a where a.job = any(ids);
    delete from mark m using job j where j.id = any(ids) and m.job = j.id and m.mark = any(j.marks);
    delete from job j where j.id = any(ids);
    insert into entry (at, jobs, revs, kinds, shapes)
    select started, array_agg(x.i order by x.n), '{0}', array_agg(x.k order by x.n), array_agg(x.z || '-' order by x.n)
    from rows from (json_to_recordset(items) as (i bigint, k int, z text)) with ordinality as x(i, k, z, n) where x.i = any(ids);
  end if;
  return query select started, array_to_json(ids);
end $$;
