-- What the ledger keeps of a partition (store/ledger/account.ts).
-- Caller: `append`, `fence`, `fold`, `postgres-ledger.ts`. Index: part's primary key. Locks: none.
create or replace function pawl.account(of int)
returns table (epoch bigint, seq bigint, name text, at bigint, folded bigint, kept_from bigint)
language sql stable set search_path = pawl, pg_temp as $$
  select a.epoch, a.seq, a.name, a.at, a.folded, a.kept_from from part a where a.p = of
$$;
