-- The next epoch, where the account is in this one (store/ledger/account.ts, `mayFence`). Answers with the account as it is then.
-- Caller: `postgres-ledger.ts`. Index: part's primary key. Locks: the partition.
create or replace function pawl.fence(of int, in_epoch bigint)
returns table (done boolean, now_epoch bigint, now_seq bigint, now_name text, now_at bigint, now_folded bigint, now_kept_from bigint)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '1s' as $$
begin
  update part a set epoch = a.epoch + 1 where a.p = of and a.epoch = in_epoch;
  done := found;
  return query select done, a.* from account(of) as a;
end $$;
