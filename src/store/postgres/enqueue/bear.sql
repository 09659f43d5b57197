-- One new job and its keys: null, or 'by:holder' of the job that was first. Raises PW001 where a key is held after something was
-- written, for the caller to undo. JSON keys: those of new-row.ts (p 1: it rests, and waits to be judged from its birth on), and ca careful, tn tenant, ks keys, hl
-- the lane of its flow, in which it is held.
-- Caller: `bear_each`, `move_keyed`. Index: job's and key's primary keys. Locks: its own rows, and those of `take_key`.
create or replace function pawl.bear(item json, now_ms bigint, giver bigint) returns text
language plpgsql set search_path = pawl, pg_temp as $$
declare
  x record;
  k record;
  holder bigint;
begin
  select * into x from json_to_record(item)
    as x(i bigint, t bigint, k int, l int, w int, b text, h text, c text, m text[], r bigint, n bigint, p int, ca boolean, tn text, ks json, hl int);
  insert into job (id, created_at, kind, lane, sum, input, head, correlation, marks)
  values (x.i, x.t, x.k, x.l, sum_of(x.b), x.b, x.h, x.c, x.m) on conflict (id) do nothing;
  if not found then return 'id:' || x.i; end if;
  if x.m is not null then insert into mark (mark, job) select unnest(x.m), x.i; end if;
  for k in select * from json_to_recordset(coalesce(x.ks, '[]')) as k(p text, k text, u bigint) loop
    holder := take_key(x.tn, k.p, k.k, x.i, k.u, now_ms, giver);
    if holder is not null then
      raise exception using errcode = 'PW001', message = k.p || ':' || holder, detail = k.k;
    end if;
  end loop;
  if x.p = 1 then insert into rest (id, tick, judge) values (x.i, x.n, x.t);
  else
    insert into ready (id, ready_at, lane, window_ms, kind, bytes, careful, tick)
    values (x.i, coalesce(x.r, x.t), coalesce(x.hl, x.l), x.w, x.k, coalesce(octet_length(x.b), 0), x.ca, x.n);
    if x.hl is not null then insert into arrival (flow) values (-x.hl); end if;
  end if;
  return null;
end $$;
