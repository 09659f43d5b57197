-- Writes bodies of jobs that have moved, each job's as a list with the JSON keys k key, n name where the key is its hash, t text.
-- Caller: `move_sets`, `move_staying`, under whose planner switches it runs. Index: body's primary key. Locks: the bodies' rows, of jobs the caller has.
create or replace function pawl.add_bodies(jobs bigint[], lists json[]) returns void language plpgsql as $$
begin
  insert into pawl.body (job, key, name, text)
  select u.job, y.k, y.n, y.t from unnest(jobs, lists) as u(job, list)
  cross join lateral json_to_recordset(u.list) as y(k text, n text, t text)
  on conflict (job, key) do update set text = excluded.text;
end $$;
