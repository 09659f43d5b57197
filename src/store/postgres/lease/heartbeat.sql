-- Renews leases, each job at most once. Updates no indexed column: heap-only. Rows that somebody has locked are left out: one
-- locked row made a plain batch wait 1.5 s.
-- JSON keys: i id, f generation and attempt as in step >> 4, x nonce, q request.
-- Answers for each item in order: null (lost), false (busy), true (careful), or [rev, beats, expires at, replayed].
-- Caller: `heartbeats.ts`. Index: lease's, claim's, job's and kind's primary keys. Locks: the leases, SKIP LOCKED.
create or replace function pawl.heartbeat(items json) returns table (now_ms bigint, answers json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare started bigint := clock();
begin
  perform loosen(array(select x.i from json_to_recordset(items) as x(i bigint)), all_of_them => true);
  return query
  with x as materialized (
    select * from rows from (json_to_recordset(items) as (i bigint, f bigint, x text, q text)) with ordinality as x(i, f, x, q, n)
  ), held as materialized (
    select x.n, x.i, x.f, x.q from x cross join lateral (
      select l.claim from lease l where l.id = x.i and l.step >> {{bits.attempt}} = x.f and l.expires_at > started limit 1
    ) l cross join lateral (select from claim c where c.id = abs(l.claim) and c.nonce = x.x limit 1) c
  ), mine as materialized (
    select o.n, o.q, l.id, l.rev, l.expires_at, l.beat, l.careful, k.window_ms,
           -- Nothing happens before what has happened already, should the server's clock have been set back a little.
           greatest(started, {{leaseRenewedAt(l.expires_at, k.window_ms)}}, updated_at(l.doc)) as at,
           coalesce(l.beat ->> 'id' = o.q, false) as replayed
    from held o cross join lateral (
      select l.* from lease l where l.id = o.i and l.step >> {{bits.attempt}} = o.f and l.expires_at > started limit 1 for update skip locked
    ) l cross join lateral (select j.kind from job j where j.id = l.id limit 1) j
    cross join lateral (select k.window_ms from kind k where k.id = j.kind limit 1) k
  ), renewed as (
    update lease l set rev = l.rev + 1, expires_at = {{leaseEnd(m.at, m.window_ms)}},
      beat = jsonb_build_object('n', coalesce((m.beat ->> 'n')::int, 0) + 1, 'id', m.q, 'p', jsonb_build_array(jsonb_build_array(
        coalesce((m.beat -> 'p' -> 0 ->> 0)::int, 0) + 1, coalesce(m.beat -> 'p' -> 0 -> 1, to_jsonb(m.at)), m.at, m.q, {{leaseEnd(m.at, m.window_ms)}})))
    -- Not `=`: that would allow walking all leases for each call (10,000 running jobs: 15 % of a core instead of 2).
    from mine m where l.id >= m.id and l.id <= m.id and not m.replayed and m.careful is null
    returning l.id, l.rev, l.expires_at, l.beat
  )
  select started, json_agg(case
      when o.n is null then null
      when m.id is null then to_json(false)
      when m.careful then to_json(true)
      else json_build_array(coalesce(r.rev, m.rev), (coalesce(r.beat, m.beat) ->> 'n')::int, coalesce(r.expires_at, m.expires_at), m.replayed)
    end order by x.n)
  from x left join held o on o.n = x.n left join mine m on m.n = x.n left join renewed r on r.id = m.id;
end $$;
