-- Writes under which other correlations jobs that have moved can be found, each job's as a list with the JSON keys c mark, r rev.
-- Caller: `move_sets`, `move_staying`, under whose planner switches it runs. Index: link's primary key. Locks: its own rows.
create or replace function pawl.add_links(jobs bigint[], lists json[]) returns void language plpgsql as $$
begin
  insert into pawl.link (correlation, job, rev)
  select y.c, u.job, y.r from unnest(jobs, lists) as u(job, list) cross join lateral json_to_recordset(u.list) as y(c text, r int)
  on conflict do nothing;
end $$;
