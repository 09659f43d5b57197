-- Gives all jobs of a claim leases of their own, unless somebody has its bundle just now. True: they have leases; false: nobody
-- is waited for, since a statement that has the bundle may be waiting for the claim's row, which the caller has.
-- Caller: `due`. Index: claim's primary key. Locks: the bundle, tried; those of `loosen_from`.
create or replace function pawl.loosen_if_free(claim_id bigint) returns boolean
language plpgsql set search_path = pawl, pg_temp as $$
declare all_jobs bigint[];
begin
  select c.jobs into all_jobs from claim c where c.id = claim_id and c.low is not null;
  if not found then return true; end if;
  if not pg_try_advisory_xact_lock(hashtextextended('pawl.claim', claim_id)) then return false; end if;
  perform loosen_from(claim_id, all_jobs);
  return true;
end $$;
