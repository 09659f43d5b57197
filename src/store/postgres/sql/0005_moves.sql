-- Everything that is not a plain enqueue, a claim or the plain end of a lease: keyed enqueues, enqueues in the caller's
-- transaction, and moves of single jobs. Item by item, each whole or not at all.

-- Takes a key, or says who has it. Locks the key's row. PW001 undoes the item that wanted it.
create function pawl.take_key(tenant_name text, purpose_name text, key_text text, job_id bigint, until_ms bigint,
                              now_ms bigint, giver bigint)
returns bigint language plpgsql set search_path = pawl, pg_temp as $$
declare holder bigint;
begin
  loop
    insert into key (tenant, purpose, key, job, until) values (tenant_name, purpose_name, key_text, job_id, until_ms)
    on conflict (tenant, purpose, key) do update set job = excluded.job, until = excluded.until
      where key.job = excluded.job or key.until <= now_ms or key.job = giver
    returning job into holder;
    if found then return null; end if;
    select k.job into holder from key k where k.tenant = tenant_name and k.purpose = purpose_name and k.key = key_text;
    -- Gone in between: ask again.
    if found then return holder; end if;
  end loop;
end $$;

-- One new job and its keys: null, or 'by:holder' of whoever was first. Raises PW001 where a key is held after something
-- was written, for the caller to undo.
create function pawl.bear(item json, now_ms bigint, giver bigint) returns text
language plpgsql set search_path = pawl, pg_temp as $$
declare
  x record;
  k record;
  holder bigint;
begin
  select * into x from json_to_record(item)
    as x(i bigint, t bigint, k int, l int, w int, b text, h text, c text, m text[], r bigint, n bigint, p int, tn text, ks json);
  insert into job (id, created_at, kind, lane, input, head, correlation, marks)
  values (x.i, x.t, x.k, x.l, x.b, x.h, x.c, x.m) on conflict (id) do nothing;
  if not found then return 'id:' || x.i; end if;
  if x.m is not null then insert into mark (mark, job) select unnest(x.m), x.i; end if;
  for k in select * from json_to_recordset(coalesce(x.ks, '[]')) as k(p text, k text, u bigint) loop
    holder := take_key(x.tn, k.p, k.k, x.i, k.u, now_ms, giver);
    if holder is not null then
      raise exception using errcode = 'PW001', message = k.p || ':' || holder, detail = k.k;
    end if;
  end loop;
  if x.p = 1 then insert into rest (id, tick) values (x.i, x.n);
  else
    insert into ready (id, ready_at, lane, window_ms, kind, bytes, tick)
    values (x.i, coalesce(x.r, x.t), x.l, x.w, x.k, coalesce(octet_length(x.b), 0), x.n);
  end if;
  return null;
end $$;

-- Who calls it: insert, for jobs with keys, in the caller's transaction, and item by item after a batch has failed.
-- Answers with the clock and, for each item in order, null or 'by:holder'. Never "no row": who was second is told who
-- was first. JSON keys: see newRow, and tn tenant, ks keys, s shape.
--
-- A key that is held by a transaction which has not ended is waited for. A moment only on a connection of ours, where the
-- batch is broken up then; in a transaction of the caller's, who may have come to wait, as long as the caller's own
-- `lock_timeout` says, or 5 s where it says nothing. Then the item is `busy`, and their transaction is as it was.
create function pawl.enqueue(items json, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = pawl, pg_temp as $$
declare
  started bigint := clock();
  theirs text := current_setting('lock_timeout');
  item json;
  verdict text;
  answers text[] := '{}';
  jobs bigint[] := '{}';
  kinds int[] := '{}';
  shapes text[] := '{}';
begin
  if not of_the_callers then perform set_config('lock_timeout', '100ms', true);
  elsif theirs = '0' then perform set_config('lock_timeout', '5s', true);
  end if;
  for item in select * from json_array_elements(items) loop
    begin
      verdict := bear(item, started, null);
    exception
      when sqlstate 'PW001' then verdict := sqlerrm;
      when lock_not_available or deadlock_detected then
        if not of_the_callers then raise; end if;
        verdict := 'busy:';
    end;
    answers := array_append(answers, verdict);
    if verdict is null then
      jobs := jobs || (item ->> 'i')::bigint;
      kinds := kinds || (item ->> 'k')::int;
      shapes := shapes || (item ->> 's');
    end if;
  end loop;
  if cardinality(jobs) > 0 then
    insert into entry (at, jobs, revs, kinds, shapes) values (started, jobs, '{1}', kinds, shapes);
  end if;
  perform set_config('lock_timeout', theirs, true);
  return query select started, array_to_json(answers);
end $$;

-- Requests, as they are looked for.
create function pawl.request_mark(request text) returns bigint language sql immutable strict as
$$ select ('x' || left(md5(request), 16))::bit(64)::bigint $$;

-- One move. 'a' applied, 'b' applied before, by a try whose answer was lost, 'c' conflict, 'l' late; PW001 where a key is
-- held, for the caller to undo.
-- JSON keys: those of settle, and q place before, w place after (r ready, l lease, s rest, p past), ra ready at, l lane,
-- lw lease window, t tick, x lease end, bi and bn last heartbeat and their number, k kind, h shape, tn tenant, g keys given, kt keys taken,
-- sp successor, b bodies, u marks of foreign correlations, rq requests, c the claim where the move is one.
create function pawl.move_one(item json, now_ms bigint, again boolean) returns text
language plpgsql set search_path = pawl, pg_temp as $$
declare
  x record;
  k record;
  holder bigint;
  answer text;
  was_claim bigint;
  was_step bigint;
  was_rev int;
  was_beat jsonb;
  was_end int;
  from_revision int;
  wrong boolean;
begin
  select * into x from json_to_record(item) as x(
    i bigint, r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, q text, w text,
    ra bigint, l int, t bigint, x bigint, bi text, bn int, k int, lw int, h text, tn text, g json, kt json, sp json, b json,
    u json, c json, rq json);

  if x.q = 'r' then
    select coalesce(r.step, 7), coalesce(r.rev, 1) into was_step, was_rev from ready r where r.id = x.i for update;
  elsif x.q = 'l' then
    select l.step, l.rev, l.claim, l.beat into was_step, was_rev, was_claim, was_beat from lease l where l.id = x.i for update;
  elsif x.q = 's' then
    select coalesce(r.step, 0), coalesce(r.rev, 1) into was_step, was_rev from rest r where r.id = x.i for update;
  else
    select p.to_step, p.rev, p.from_rev into was_step, was_rev, was_end from past p where p.job = x.i and p.rev = x.r for update;
    if found then
      -- In a statement of its own: what whoever held the lock has done meanwhile must be seen.
      if exists (select from past p where p.job = x.i and p.rev > x.r) or exists (select from ready r where r.id = x.i)
         or exists (select from lease l where l.id = x.i) or exists (select from rest r where r.id = x.i) then
        was_rev := null;
      end if;
    end if;
  end if;
  if was_rev is distinct from x.r then
    if again and exists (select from past p where p.job = x.i and p.rev = x.v and p.events = x.e) then return 'b'; end if;
    return 'c';
  end if;
  if x.n is not null and x.n <= now_ms then return 'l'; end if;

  -- The wall: whatever the caller says, a job goes forward, ends where ended jobs are, and counts attempts by claims.
  wrong := x.v <= x.r or (x.w = 'p') <> (x.s & 15 = 8) or x.w not in ('r', 'l', 's', 'p') or x.s < was_step or case
       when x.s >> 36 = was_step >> 36 then (x.s >> 4) - (was_step >> 4) <> case when x.c is null then 0 else 1 end
                                            or (was_step & 15 = 8 and x.s <> was_step)
       else was_step & 15 <> 8 or x.s >> 36 <> (was_step >> 36) + 1
            or (x.s >> 4) & 4294967295 <> (was_step >> 4) & 4294967295 end;
  if wrong is not false then
    raise exception using errcode = '23514', message = format('job %s may not move from step %s to %s', x.i, was_step, x.s);
  end if;

  for k in select * from json_to_recordset(coalesce(x.kt, '[]')) as k(p text, k text, u bigint) loop
    holder := take_key(x.tn, k.p, k.k, x.i, k.u, now_ms, null);
    if holder is not null then raise exception using errcode = 'PW001', message = k.p || ':' || holder, detail = k.k; end if;
  end loop;
  for k in select * from json_to_recordset(coalesce(x.g, '[]')) as k(p text, k text) loop
    delete from key y where y.tenant = x.tn and y.purpose = k.p and y.key = k.k and y.job = x.i;
  end loop;
  if x.sp is not null then
    answer := bear(x.sp, now_ms, null);
    if answer is not null then raise exception using errcode = 'PW001', message = answer, detail = ''; end if;
  end if;

  if x.c is not null then
    insert into claim (request, worker, actor, nonce, at, tick, refs, jobs)
    select 'commit/' || x.i || '/' || x.v, c.w, c.a, c.n, c.t, least(x.t, x.x), 1, array[x.i]
    from json_to_record(x.c) as c(w text, a text, n text, t bigint) returning -id into was_claim;
  end if;
  from_revision := x.r - coalesce(beats_in(was_beat), 0) - case when was_claim > 0 then 1 else 0 end;
  insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
  values (x.i, x.a, case when was_claim > 0 or x.c is not null then was_claim end,
          case when was_claim > 0 then ((was_step >> 4) - 1 << 4) + 7 else was_step end, x.s, x.v, from_revision,
          x.z, x.p is not null, x.e, x.o, case when x.w = 'p' then x.d end, was_beat -> 'p');
  if x.w <> 'p' then
    insert into asked (job, request, from_rev) select distinct x.i, request_mark(q.words), from_revision from (
      select json_array_elements_text(x.rq)
      union all select coalesce(c.request_words, c.request) from claim c where was_claim > 0 and c.id = was_claim
      union all select run ->> 3 from jsonb_array_elements(was_beat -> 'p') as run
    ) as q(words);
  end if;
  if was_end is not null then insert into asked (job, request, from_rev) values (x.i, 0, was_end); end if;

  if x.q = 'l' and x.w = 'l' then
    update lease set claim = -abs(was_claim), expires_at = x.x, rev = x.v, step = x.s, tick = x.t, again = null, doc = x.d,
      beat = case when x.bi is not null then jsonb_build_object('n', x.bn, 'id', x.bi, 'p', '[]'::jsonb) end
    where id = x.i;
    update claim set tick = least(x.t, x.x) where id = abs(was_claim) and (tick is null or tick > least(x.t, x.x));
  else
    if x.q = 'r' then delete from ready r where r.id = x.i;
    elsif x.q = 'l' then delete from lease l where l.id = x.i;
    elsif x.q = 's' then delete from rest r where r.id = x.i;
    end if;
    if x.w = 'r' then 
      insert into ready (id, ready_at, lane, window_ms, kind, rev, step, tick, doc)
      values (x.i, x.ra, x.l, x.lw, x.k, x.v, x.s, x.t, x.d);
    elsif x.w = 's' then insert into rest (id, rev, step, tick, doc) values (x.i, x.v, x.s, x.t, x.d);
    elsif x.w = 'l' then
      insert into lease (id, claim, expires_at, rev, step, tick, doc)
      values (x.i, was_claim, x.x, x.v, x.s, x.t, x.d);
    end if;
  end if;

  if x.b is not null then
    insert into body (job, key, name, text)
    select x.i, y.k, y.n, y.t from json_to_recordset(x.b) as y(k text, n text, t text)
    on conflict (job, key) do update set text = excluded.text;
  end if;
  if x.u is not null then
    insert into link (correlation, job, rev)
    select y.c, x.i, y.r from json_to_recordset(x.u) as y(c text, r int) on conflict do nothing;
  end if;
  return 'a';
end $$;

-- Who calls it: commit. Answers with the clock and a verdict for each item in order: 'a', 'c', 'l', or 'purpose:holder:key'.
create function pawl.move(items json, again boolean, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' as $$
declare
  started bigint := clock();
  item json;
  verdict text;
  wanted text;
  answers text[] := '{}';
  jobs bigint[] := '{}';
  revs int[] := '{}';
  kinds int[] := '{}';
  shapes text[] := '{}';
begin
  if of_the_callers then perform set_config('lock_timeout', '5s', true); end if;
  perform loosen(array(select x.i from json_to_recordset(items) as x(i bigint, q text) where x.q = 'l'));
  for item in select * from json_array_elements(items) loop
    if item -> 'kt' is null and item -> 'sp' is null then
      verdict := move_one(item, started, again);
    else
      begin
        verdict := move_one(item, started, again);
      exception when sqlstate 'PW001' then
        get stacked diagnostics wanted = pg_exception_detail;
        verdict := sqlerrm || ':' || wanted;
      end;
    end if;
    -- What was applied before was told of before: the feed shows it once.
    answers := answers || case when verdict = 'b' then 'a' else verdict end;
    if verdict = 'a' then
      jobs := jobs || (item ->> 'i')::bigint;
      revs := revs || (item ->> 'f')::int;
      kinds := kinds || (item ->> 'k')::int;
      shapes := shapes || (item ->> 'h');
      if item -> 'sp' is not null then
        jobs := jobs || (item -> 'sp' ->> 'i')::bigint;
        revs := revs || 1;
        kinds := kinds || (item -> 'sp' ->> 'k')::int;
        shapes := shapes || (item -> 'sp' ->> 's');
      end if;
    end if;
  end loop;
  if cardinality(jobs) > 0 then
    insert into entry (at, jobs, revs, kinds, shapes) values (started, jobs, revs, kinds, shapes);
  end if;
  return query select started, array_to_json(answers);
end $$;

-- Who calls it: commit, about the items settle could not apply, to say why.
-- JSON keys: i id, r rev before, v rev after, e events.
create function pawl.missed(items json, again boolean) returns json
language sql volatile set search_path = pawl, pg_temp as $$
  select json_agg(case
    when again and exists (select from past p where p.job = x.i and p.rev = x.v and p.events = x.e) then 'a'
    when exists (select from lease l where l.id = x.i and l.rev = x.r) then 'l' else 'c' end order by x.o)
  from rows from (json_to_recordset(items) as (i bigint, r int, v int, e text)) with ordinality as x(i, r, v, e, o)
$$;
