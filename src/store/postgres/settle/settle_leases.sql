-- Ends leased jobs that touch no key, and no body but the output, which is nearly all there is. Answers with the items it could not apply. JSON
-- keys, of groups of jobs that end alike: i ids, r rev before, n not after, v rev after, s step after, a at, z state, e events, p 1 if
-- plain, d doc, o output. Alike are most jobs of a batch; an object per job cost 3 µs more. A job without a lease is given one if it
-- is in a bundle (`loosen`): the caller did not know, or knows that something else happened to the bundle.
-- Caller: `commits.ts`, `flow_settle`. Index: lease's primary key; those of `loosen`. Locks: the leases it ends; those of `loosen`.
create or replace function pawl.settle_leases(items json, jobs bigint[], revs int[], kinds int[], shapes text[], of_the_callers boolean default false)
returns table (now_ms bigint, missed json)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  alike record;
  of_these int;
  ended int := 0;
  done bigint[];
  lost bigint[];
begin
  -- In a transaction of the caller's there is no second try: a heartbeat that is just being committed is waited for.
  if of_the_callers then perform set_config('lock_timeout', '5s', true); end if;
  -- Few bytes for many jobs: few groups. A statement for each has nothing to join and carries no words from row to row:
  -- 4.4 instead of 5.6 µs per job; with hundreds of groups it is the dearer way. (A list of what it did: 4.5.)
  if octet_length(items::text) < 32 * cardinality(jobs) then
    -- It only counts what it did: where something is missed all of it is undone and done again by the careful way.
    begin
      for alike in select * from json_to_recordset(items)
          as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text) loop
        with gone as (
          delete from lease l
          where l.id = any(alike.i) and l.rev = alike.r and alike.v > alike.r and alike.s & {{mask.rank}} = {{rank.ended}}
            and l.step >> {{bits.attempt}} = alike.s >> {{bits.attempt}} and (alike.n is null or alike.n > started)
          returning l.id, l.claim, l.step, l.from_step, l.beat
        )
        insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
        select g.id, alike.a, case when g.claim > 0 then g.claim end,
               case when g.claim > 0 then coalesce(g.from_step, {{step.enqueued}}) else g.step end, alike.s, alike.v,
               case when g.claim > 0 then alike.r - 1 else alike.r end - coalesce(beats_in(g.beat), 0),
               alike.z, alike.p is not null, alike.e, alike.o, alike.d, g.beat -> 'p'
        from gone g;
        get diagnostics of_these = row_count;
        ended := ended + of_these;
      end loop;
      if ended < cardinality(jobs) then raise exception using errcode = 'PW002'; end if;
    exception when sqlstate 'PW002' or unique_violation then ended := 0;
    end;
  end if;
  if ended < cardinality(jobs) then
    done := settle_each(items, started);
    if cardinality(done) < cardinality(jobs) then
      perform loosen(array(select unnest(jobs) except select unnest(done)));
      done := done || settle_each(items, started);
    end if;
    if cardinality(done) < cardinality(jobs) then lost := array(select unnest(jobs) except select unnest(done)); end if;
  end if;
  insert into entry (at, jobs, revs, kinds, shapes, void) values (started, jobs, revs, kinds, shapes, lost);
  return query select started, array_to_json(lost);
end $$;
