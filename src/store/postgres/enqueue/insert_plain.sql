-- Jobs without keys. A duplicate id fails the whole batch, which is then broken up and goes through `enqueue`, item by item.
-- Columns as arrays. Of all but `jobs`, one element stands for all of them and none for null; `readies` null: claimable when
-- created; `pending` 1: not claimable, and to be judged when created. Arrays taken apart in the select list are stored nowhere in between: 0.7 µs a job less than
-- one WITH that all tables are filled from. Slices of them for groups of jobs that are born alike cost the same where all were (4.2
-- and 4.1 µs).
-- Caller: `insert.ts`, `insert_keyed`. Index: none is read. Locks: its own rows.
create or replace function pawl.insert_plain(jobs bigint[], inputs text[], heads text[], times bigint[], kinds int[], lanes int[],
                                  windows int[], correlations text[], marks text[], readies bigint[], ticks bigint[],
                                  pending int[], shapes text[]) returns bigint
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '100ms' as $$
declare
  now_ms bigint := clock();
  -- For all of them, or null.
  b1 text := case when cardinality(inputs) = 1 then inputs[1] end;
  h1 text := case when cardinality(heads) = 1 then heads[1] end;
  t1 bigint := times[1];
  k1 int := kinds[1];
  l1 int := lanes[1];
  w1 int := windows[1];
  c1 text := case when cardinality(correlations) = 1 then correlations[1] end;
  m1 text := case when cardinality(marks) = 1 then marks[1] end;
  r1 bigint := case when cardinality(readies) = 1 then readies[1] end;
  n1 bigint := case when cardinality(ticks) = 1 then ticks[1] end;
  p1 int := case when cardinality(pending) = 1 then pending[1] end;
begin
  insert into job (id, created_at, kind, lane, sum, input, head, correlation, marks)
  select i, coalesce(t, t1), coalesce(k, k1), coalesce(l, l1), sum_of(coalesce(b, b1)), coalesce(b, b1), coalesce(h, h1),
         coalesce(c, c1), coalesce(m, m1)::text[]
  from (select unnest(jobs) as i, unnest(inputs) as b, unnest(heads) as h, unnest(times) as t, unnest(kinds) as k,
               unnest(lanes) as l, unnest(correlations) as c, unnest(marks) as m) as x;
  insert into ready (id, ready_at, lane, window_ms, kind, bytes, tick)
  select i, coalesce(r, r1, t, t1), coalesce(l, l1), coalesce(w, w1), coalesce(k, k1),
         coalesce(octet_length(coalesce(b, b1)), 0), coalesce(n, n1)
  from (select unnest(jobs) as i, unnest(inputs) as b, unnest(times) as t, unnest(kinds) as k, unnest(lanes) as l,
               unnest(windows) as w, unnest(readies) as r, unnest(ticks) as n, unnest(pending) as p) as x
  where coalesce(p, p1) is null;
  if marks <> '{}' then
    insert into mark (mark, job) select unnest(coalesce(m, m1)::text[]), i
    from (select unnest(jobs) as i, unnest(marks) as m) as x;
  end if;
  if pending <> '{}' then
    insert into rest (id, tick, judge) select i, coalesce(n, n1), coalesce(t, t1)
    from (select unnest(jobs) as i, unnest(ticks) as n, unnest(times) as t, unnest(pending) as p) as x where coalesce(p, p1) = 1;
  end if;
  insert into entry (at, jobs, revs, kinds, shapes) values (now_ms, jobs, '{1}', kinds, shapes);
  return now_ms;
end $$;
