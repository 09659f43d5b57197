-- Records, wherever they stand; the caller evolves what is written as a claim or a heartbeat on the lease. `log` is the whole
-- history where the last row of it has no record of its own. No body is loaded.
-- Caller: `load.ts`, `due`, `unjudged`. Index: the primary keys of job, ready, rest and past; those of `owned_of`. Locks: none.
create or replace function pawl.records(ids bigint[])
returns table (id bigint, created_at bigint, kind int, lane int, head text, place text, doc text, claim json,
               beats jsonb, log json, now_ms bigint)
language plpgsql volatile rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select j.id, j.created_at, j.kind, j.lane, j.head,
    case when r.id is not null then 'r' when o.id is not null then 'l' when s.id is not null then 's' else 'p' end,
    coalesce(r.doc, o.doc, s.doc, p.doc),
    case when not o.logged then claim_words(o.claim) end,
    o.beat -> 'p',
    case when p.job is not null and p.doc is null then
      (select json_agg(json_build_array(h.claim, h.beats, h.events) order by h.rev) from history(j.id, 0, 1000) h) end,
    clock()
  from unnest(ids) with ordinality as u(id, n)
  -- Each by itself: joined, a plan made while one of them was empty walks all of it.
  cross join lateral (select j.* from job j where j.id = u.id limit 1) j
  left join lateral (select r.id, r.doc from ready r where r.id = u.id limit 1) r on true
  left join lateral (select s.id, s.doc from rest s where s.id = u.id limit 1) s on true
  left join lateral (select o.* from owned_of(u.id) o where r.id is null and s.id is null limit 1) o on true
  left join lateral (
    select p.job, p.doc from past p
    where p.job = u.id and r.id is null and o.id is null and s.id is null order by p.job, p.from_rev desc limit 1
  ) p on true
  order by u.n;
end $$;
