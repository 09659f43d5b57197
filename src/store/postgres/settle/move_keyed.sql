-- One move that takes keys or has a successor, whole or not at all. Answers as `move` does for each item. Its keys are taken when it
-- has moved and given up its own, so that a successor may have them.
-- Caller: `move`, under whose planner switches it runs. Index: those of `move_sets`, `take_key` and `bear`. Locks: those of
-- `move_sets`, then of `take_key` and `bear`; given up where it is undone.
create or replace function pawl.move_keyed(item json, started bigint, ended bigint[], again boolean) returns text language plpgsql as $$
declare
  x record;
  k record;
  moved record;
  holder bigint;
  answer text;
  wanted text;
begin
  moved := pawl.move_sets(json_build_array(item), started, ended, null);
  if moved.jobs is null then return (pawl.unmoved(json_build_array(item), null, started, again))[1]; end if;
  select * into x from json_to_record(item) as x(i bigint, tn text, kt json, sp json);
  for k in select * from json_to_recordset(coalesce(x.kt, '[]')) as k(p text, k text, u bigint) loop
    holder := pawl.take_key(x.tn, k.p, k.k, x.i, k.u, started, null);
    if holder is not null then raise exception using errcode = 'PW001', message = k.p || ':' || holder, detail = k.k; end if;
  end loop;
  if x.sp is not null then
    answer := pawl.bear(x.sp, started, null);
    if answer is not null then raise exception using errcode = 'PW001', message = answer, detail = ''; end if;
    moved.jobs := moved.jobs || (x.sp ->> 'i')::bigint;
    moved.revs := moved.revs || 1;
    moved.kinds := moved.kinds || (x.sp ->> 'k')::int;
    moved.shapes := moved.shapes || (x.sp ->> 's');
  end if;
  insert into pawl.entry (at, jobs, revs, kinds, shapes) values (started, moved.jobs, moved.revs, moved.kinds, moved.shapes);
  return 'a';
exception when sqlstate 'PW001' then
  get stacked diagnostics wanted = pg_exception_detail;
  return sqlerrm || ':' || wanted;
end $$;
