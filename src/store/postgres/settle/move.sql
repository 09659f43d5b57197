-- Everything that is not a plain enqueue, a claim or the plain end of a lease: moves of jobs, at most one of each. Answers with the
-- clock and a verdict for each item in order: 'a' applied, 'c' conflict, 'l' late, or 'purpose:holder:key'. All go together, those
-- that stay where they are (`move_staying`) and those that go elsewhere (`move_sets`), but for those that take keys or have a
-- successor: a key that another job holds undoes one item alone (`move_keyed`).
-- JSON keys: those of `settle_leases`, and q place before, w place after (r ready, l lease, s rest, p past), f first rev, ra ready at,
-- l lane (absent: its place is what it is), lw lease window, t tick, x lease end, bi and bn last heartbeat and their number, k kind, h shape, tn tenant, g keys given,
-- kt keys taken, sp successor, b bodies, st whether all bodies go, mk marks that it has from now on, jd since when it waits to be judged, u marks of foreign correlations, rq requests, c the claim where the move is one, ca
-- whether its heartbeats are core's to decide.
-- Caller: `commits.ts`, `flow_move_some`. Index: those of the functions it calls. Locks: those of `loosen`, `hold_ended`, `move_staying`, `move_sets`, `strip`, `add_marks`, and
-- then, item by item, of `move_keyed`.
create or replace function pawl.move(items json, again boolean, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' set jit = off
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  given record;
  stayed record;
  moved record;
  apart int[];
  answers text[];
  keyed int;
begin
  if of_the_callers then perform set_config('lock_timeout', '5s', true); end if;
  select count(*)::int as n, array_agg(x.i) filter (where x.q = 'l' and x.r = {{rev.claimed}}) as maybe_bundled,
         array_agg(x.i order by x.i) filter (where x.q = 'p') as ended, array_agg(x.r order by x.i) filter (where x.q = 'p') as end_revs,
         array_agg(x.o::int order by x.i) filter (where x.kt is not null or x.sp is not null) as keyed,
         array_agg(x.i order by x.i) filter (where x.st) as stripping, bool_or(x.mk is not null) as marking,
         array_agg(x.o::int) filter (where x.q = 'l' and x.w = 'l' and num_nonnulls(x.g, x.c, x.kt, x.sp) = 0) as staying
    into given
  from rows from (json_to_recordset(items) as (i bigint, r int, q text, w text, g json, c json, kt json, sp json, st boolean, mk json))
    with ordinality as x(i, r, q, w, g, c, kt, sp, st, mk, o);
  if given.maybe_bundled is not null then perform loosen(given.maybe_bundled); end if;
  if given.ended is not null then given.ended := hold_ended(given.ended, given.end_revs); end if;

  select m.* into stayed from move_staying(items, started, given.staying) as m where given.staying is not null;
  given.keyed := coalesce(given.keyed, '{}');
  apart := given.staying || given.keyed;
  select m.* into moved from move_sets(items, started, given.ended, apart) as m where cardinality(apart) < given.n;
  if stayed.jobs is not null or moved.jobs is not null then
    insert into entry (at, jobs, revs, kinds, shapes)
    values (started, stayed.jobs || moved.jobs, stayed.revs || moved.revs, stayed.kinds || moved.kinds, stayed.shapes || moved.shapes);
  end if;
  if given.stripping is not null then perform strip(array(select unnest(given.stripping) intersect select unnest(moved.jobs))); end if;
  if given.marking then perform add_marks(items, moved.jobs); end if;
  answers := case when cardinality(stayed.places || moved.places) = given.n then array_fill('a'::text, array[given.n])
                  else unmoved(items, stayed.places || moved.places, started, again) end;
  foreach keyed in array given.keyed loop
    answers[keyed] := move_keyed(items -> keyed - 1, started, given.ended, again);
  end loop;
  return query select started, array_to_json(answers);
end $$;
