-- Who claimed, as JSON: worker, actor, nonce, request, at.
-- Caller: `history`, `records`, `stretch`. Index: claim's primary key. Locks: none.
create or replace function pawl.claim_words(claim_id bigint) returns json language plpgsql stable
set search_path = pawl, pg_temp as $$
begin
  return (select json_build_array(c.worker, c.actor, c.nonce, coalesce(c.request_words, c.request), c.at) from claim c where c.id = claim_id);
end $$;
