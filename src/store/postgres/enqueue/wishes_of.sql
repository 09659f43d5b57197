-- The keys that new jobs want, in the order of jobs and keys; a job that wants none is there once, without `o`. `there`: its id
-- is taken. `number`: the same for the same key. `holder`: who has it, but for the job itself and those whose time is over;
-- `is_over`: it is one of the latter. `lasts`: the job that gets it has it for some time. JSON keys: those of `enqueue`.
--
-- Each look is a subquery of its own: a join, or `exists`, may be planned as a scan of everything while the table is small, and
-- kept.
-- Caller: `bear_all`. Index: job's and key's primary keys. Locks: none.
create or replace function pawl.wishes_of(items json, now_ms bigint)
returns table (n bigint, o bigint, i bigint, p text, number int, there bigint, holder bigint, is_over boolean,
               lasts boolean)
language plpgsql set search_path = pawl, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
begin
  return query select w.n, w.o, w.i, w.p, w.number, w.there, case when w.is_held then (w.had).job end, not w.is_held,
         w.u > now_ms or w.u is null
  from (
    select v.*, (v.had).job <> v.i and ((v.had).until > now_ms or (v.had).until is null) as is_held
    from (
      select x.n, k.o, x.i, k.p, k.u,
             dense_rank() over (order by x.tn collate "C", k.p collate "C", k.k collate "C")::int as number,
             (select j.id from job j where j.id = x.i) as there,
             (select h from key h where h.tenant = x.tn and h.purpose = k.p and h.key = k.k) as had
      from rows from (json_to_recordset(items) as (i bigint, tn text, ks json)) with ordinality as x(i, tn, ks, n)
      left join rows from (json_to_recordset(coalesce(x.ks, '[]')) as (p text, k text, u bigint))
        with ordinality as k(p, k, u, o) on true
    ) as v
  ) as w
  order by w.n, w.o;
end $$;
