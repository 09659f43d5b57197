-- Keeps the store's time going, about once a second from every process. Where the server's clock was set back, the store's goes
-- on from where it was, and gives way to the server's by a thirty-second part of what passes; of more than a second at once nothing is
-- known but that the server's was set forward, and a part of that would make it stand still. Answers with the time, and by how much the
-- server's was set back.
-- Caller: `kept-time.ts`. Index: none. Locks: its own, tried: where somebody else is at it nothing is left to do.
create or replace function pawl.keep_time() returns table (now_ms bigint, set_back bigint)
language plpgsql rows 1 set search_path = pawl, pg_temp as $$
declare
  server bigint;
  ahead bigint;
  before bigint;
begin
  for try in 1..2 loop
    server := server_ms();
    ahead := pg_sequence_last_value('pawl.lead');
    before := pg_sequence_last_value('pawl.seen');
    now_ms := greatest(server + ahead, before);
    set_back := 0;
    exit when abs(server + ahead - before) < 500;
    if try = 1 then
      exit when not pg_try_advisory_xact_lock(hashtextextended('pawl.clock', 0));
    elsif server + ahead < before then
      set_back := before - ahead - server;
      perform setval('lead', before - server);
    else
      perform setval('seen', now_ms), setval('lead', ahead - least(ahead, least(now_ms - before, 1000) / 32));
    end if;
  end loop;
  return next;
end $$;
