-- One move. 'a' applied, 'b' applied before, by a try whose answer was lost, 'c' conflict, 'l' late; PW001 where a key is held,
-- for the caller to undo.
-- JSON keys: those of `settle_leases`, and q place before, w place after (r ready, l lease, s rest, p past), ra ready at, l lane, lw lease
-- window, t tick, x lease end, bi and bn last heartbeat and their number, k kind, h shape, tn tenant, g keys given, kt keys taken, sp
-- successor, b bodies, u marks of foreign correlations, rq requests, c the claim where the move is one, ca whether its heartbeats
-- are core's to decide.
-- Caller: `move`. Index: the primary keys of every place. Locks: the job's row where it stands; keys it takes; then its
-- claim's row.
create or replace function pawl.move_one(item json, now_ms bigint, again boolean) returns text
language plpgsql set search_path = pawl, pg_temp as $$
declare
  x record;
  k record;
  holder bigint;
  answer text;
  was_claim bigint;
  was_step bigint;
  before_claim bigint;
  was_rev int;
  was_beat jsonb;
  was_end int;
  from_revision int;
  wrong boolean;
begin
  select * into x from json_to_record(item) as x(
    i bigint, r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, q text, w text,
    ra bigint, l int, t bigint, x bigint, bi text, bn int, k int, lw int, h text, tn text, g json, kt json, sp json, b json,
    u json, c json, rq json, ca boolean);

  if x.q = 'r' then
    select coalesce(r.step, {{step.enqueued}}), coalesce(r.rev, 1) into was_step, was_rev from ready r where r.id = x.i for update;
  elsif x.q = 'l' then
    select l.step, coalesce(l.from_step, {{step.enqueued}}), l.rev, l.claim, l.beat
      into was_step, before_claim, was_rev, was_claim, was_beat from lease l where l.id = x.i for update;
  elsif x.q = 's' then
    select coalesce(r.step, 0), coalesce(r.rev, 1) into was_step, was_rev from rest r where r.id = x.i for update;
  else
    select p.to_step, p.rev, p.from_rev into was_step, was_rev, was_end from past p
    where p.job = x.i and p.rev = x.r and p.from_rev < x.r order by p.job, p.from_rev desc limit 1 for update;
    if found then
      -- In a statement of its own: what whoever held the lock has done meanwhile must be seen.
      if exists (select from past p where p.job = x.i and p.from_rev >= x.r) or exists (select from ready r where r.id = x.i)
         or exists (select from lease l where l.id = x.i) or exists (select from rest r where r.id = x.i) then
        was_rev := null;
      end if;
    end if;
  end if;
  if was_rev is distinct from x.r then
    if again and x.e = (select p.events from past p where p.job = x.i and p.from_rev < x.v and p.rev = x.v
                        order by p.job, p.from_rev desc limit 1) then return 'b'; end if;
    return 'c';
  end if;
  if x.n is not null and x.n <= now_ms then return 'l'; end if;

  -- The wall: whatever the caller says, a job goes forward, ends where ended jobs are, and counts attempts by claims.
  wrong := x.v <= x.r or (x.w = 'p') <> (x.s & {{mask.rank}} = {{rank.ended}}) or x.w not in ('r', 'l', 's', 'p') or x.s < was_step or case
       when x.s >> {{bits.generation}} = was_step >> {{bits.generation}} then (x.s >> {{bits.attempt}}) - (was_step >> {{bits.attempt}}) <> case when x.c is null then 0 else 1 end
                                            or (was_step & {{mask.rank}} = {{rank.ended}} and x.s <> was_step)
       else was_step & {{mask.rank}} <> {{rank.ended}} or x.s >> {{bits.generation}} <> (was_step >> {{bits.generation}}) + 1
            or (x.s >> {{bits.attempt}}) & {{mask.attempt}} <> (was_step >> {{bits.attempt}}) & {{mask.attempt}} end;
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
          case when was_claim > 0 then before_claim else was_step end, x.s, x.v, from_revision,
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
    update lease set claim = -abs(was_claim), expires_at = x.x, rev = x.v, step = x.s, careful = x.ca, tick = x.t, again = null,
      doc = x.d, beat = case when x.bi is not null then jsonb_build_object('n', x.bn, 'id', x.bi, 'p', '[]'::jsonb) end
    where id = x.i;
    update claim set tick = least(x.t, x.x) where id = abs(was_claim) and (tick is null or tick > least(x.t, x.x));
  else
    if x.q = 'r' then delete from ready r where r.id = x.i;
    elsif x.q = 'l' then delete from lease l where l.id = x.i;
    elsif x.q = 's' then delete from rest r where r.id = x.i;
    end if;
    if x.w = 'r' then 
      insert into ready (id, ready_at, lane, window_ms, kind, rev, step, careful, tick, doc)
      values (x.i, x.ra, x.l, x.lw, x.k, x.v, x.s, x.ca, x.t, x.d);
    elsif x.w = 's' then insert into rest (id, rev, step, tick, doc) values (x.i, x.v, x.s, x.t, x.d);
    elsif x.w = 'l' then
      insert into lease (id, claim, expires_at, rev, step, careful, tick, doc)
      values (x.i, was_claim, x.x, x.v, x.s, x.ca, x.t, x.d);
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
