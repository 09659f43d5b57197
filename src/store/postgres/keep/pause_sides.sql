-- What holds for a queue holds for its sides. After the queue's own row was written, whose lock every new side waits for.
-- Caller: `settings`. Index: queue's hash, queue_side. Locks: the sides it changes.
create or replace function pawl.pause_sides(queue_hash text, is_paused boolean) returns void
language sql set search_path = pawl, pg_temp as $$
  update queue s set paused = is_paused where s.main = (select q.id from queue q where q.hash = queue_hash)
$$;
