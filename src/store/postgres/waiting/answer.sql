-- Who calls it: whoever gave something to a claim that stands. It stands no more, and who made it is told on its own
-- channel, with all there is to know where that fits.
create or replace function pawl.answer(it pawl.standing, given json) returns void language plpgsql as $$
declare
  words text := json_build_array(it.request, given);
begin
  delete from pawl.standing s where s.id = it.id;
  perform pg_notify(it.channel, case when octet_length(words) < 8000 then words else json_build_array(it.request)::text end);
end $$;
