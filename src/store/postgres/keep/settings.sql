-- Gets, lists, puts and removes settings, by their revision. JSON keys: o operation (g get, l list, p put, r remove), c
-- collection, k key, n its words where the key is a hash, t text, r rev, a after, m limit; of a queue's document z paused, h hash,
-- tn tenant, q queue.
-- Caller: `settings.ts`. Index: setting's primary key, queue's hash. Locks: the settings it changes, and the row of a queue
-- that is paused or resumed.
create or replace function pawl.settings(operations json) returns table (now_ms bigint, answers json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '5s' set jit = off set enable_seqscan = off
-- Of a table that was never analyzed a bitmap of a whole collection was planned for the first page of it.
set enable_bitmapscan = off as $$
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
        perform pause_sides(x.h, x.z);
        perform flow_stir(x.h);
      end if;
    elsif x.o = 'r' then
      delete from setting s where s.collection = x.c and s.key = x.k and (x.r is null or s.rev = x.r);
      fine := found or not exists (select from setting s where s.collection = x.c and s.key = x.k) and coalesce(x.r, 0) = 0;
      if fine and x.h is not null then
        update queue set paused = false where hash = x.h;
        perform pause_sides(x.h, false);
        perform flow_stir(x.h);
      end if;
    end if;
    if x.o in ('g', 'p') or not fine then
      select json_agg(json_build_array(s.key, s.name, s.text, s.rev, s.updated_at)) into found_rows
      from setting s where s.collection = x.c and s.key = x.k;
    end if;
    all_answers := all_answers || json_build_array(fine, coalesce(found_rows, '[]'));
  end loop;
  return query select started, array_to_json(all_answers);
end $$;
