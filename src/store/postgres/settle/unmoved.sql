-- Why items did not move: the verdicts of all in order, 'a' for those that did (`places`) or had before, by a try whose answer
-- was lost; 'l' late; 'c' conflict.
-- Caller: `flow_move`, `move`, `move_keyed`. Index: past's primary key, from the end of each job; the keys of every place. Locks: none.
create or replace function pawl.unmoved(items json, places int[], started bigint, again boolean) returns text[] language sql volatile as $$
  select array_agg(case
      when x.o = any(places) then 'a'
      when again and p.rev = x.v and p.events = x.e then 'a'
      when x.n <= started and x.r = case x.q
        when 'l' then (select l.rev from pawl.lease l where l.id = x.i)
        when 'r' then (select coalesce(r.rev, 1) from pawl.ready r where r.id = x.i)
        when 's' then (select coalesce(r.rev, 1) from pawl.rest r where r.id = x.i)
        else p.rev end then 'l'
      else 'c' end order by x.o)
  from rows from (json_to_recordset(items) as (i bigint, r int, n bigint, v int, e text, q text))
    with ordinality as x(i, r, n, v, e, q, o)
  left join lateral (
    select p.rev, p.events from pawl.past p where p.job = x.i and p.from_rev < x.v order by p.job, p.from_rev desc limit 1
  ) p on true
$$;
