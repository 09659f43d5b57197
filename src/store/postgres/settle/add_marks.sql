-- Adds the marks of labels that admission has given to jobs which have moved so. JSON keys: i job, mk marks.
-- Caller: `move`, under whose planner switches it runs. Index: the primary keys of job and mark. Locks: the rows of the jobs, which the caller has.
create or replace function pawl.add_marks(items json, moved bigint[]) returns void language plpgsql as $$
declare
  each record;
begin
  -- One by one: nobody can tell how long a list is, and it is never long.
  for each in select x.i, array(select json_array_elements_text(x.mk)) as marks from json_to_recordset(items) as x(i bigint, mk json)
      where x.mk is not null and x.i = any(moved) loop
    insert into pawl.mark (mark, job) select unnest(each.marks), each.i on conflict do nothing;
    update pawl.job j set marks = coalesce(j.marks, '{}') || each.marks where j.id = each.i;
  end loop;
end $$;
