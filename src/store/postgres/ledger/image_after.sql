-- Pieces of the image after this one in the order of keys and places: so many at most, and no more bytes than these, but one piece always.
-- Without those of jobs that have left the server: `own` are the beginnings of their keys, and `gone` is the key that names them, each by
-- the first half of a SHA-256 as every piece is.
-- Caller: `postgres-ledger.ts`. Index: image's primary key. Locks: none.
create or replace function pawl.image_after(of int, after_key uuid, after_place uuid, most int, bytes bigint, gone uuid, own text[])
returns table (key text, place text, kind text, key_name text, name text, value text, score text, until bigint)
language sql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select w.key::text, w.place::text, w.kind::text, w.key_name, w.name, w.value, w.score::text, w.until from (
    select i.*, sum(i.size) over (order by i.key, i.place) - i.size as before from (
      select f.*, pg_column_size(f.value) as size from image f
      where f.p = of and (f.key, f.place) > (after_key, after_place)
        and not (split_part(f.key_name, ':', 1) || ':' = any(own) and exists (
          select from image e where e.p = of and e.key = gone
            and e.place = encode(substring(sha256(convert_to(split_part(f.key_name, ':', 2), 'UTF8')) for 16), 'hex')::uuid
        ))
      order by f.key, f.place limit most
    ) i
  ) w where w.before < bytes order by w.key, w.place
$$;
