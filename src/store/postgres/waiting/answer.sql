-- Ends the parking of a claim that was given something, and notifies the channel of its process: with what was given where
-- that fits into a notification (8,000 bytes), else with the request alone, which asks for it then.
-- Caller: `offer`. Index: parked's primary key. Locks: none but the row's, which the caller has.
create or replace function pawl.answer(it pawl.parked, given json) returns void language plpgsql as $$
declare
  payload text := json_build_array(it.request, given);
begin
  delete from pawl.parked p where p.id = it.id;
  perform pg_notify(it.channel, case when octet_length(payload) < 8000 then payload else json_build_array(it.request)::text end);
end $$;
