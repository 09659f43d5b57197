-- Takes entries, whole, where the account is in this epoch and at this head (store/ledger/account.ts, `accepts`). Else it takes
-- none. Answers with the account as it is then: in statements after the lock, so that what the one who held it did is seen.
-- Caller: `postgres-ledger.ts`. Index: part's primary key. Locks: the partition.
create or replace function pawl.append(of int, in_epoch bigint, after_seq bigint, after_name text, new_names text[],
                            new_ats bigint[], new_texts text[])
returns table (done boolean, now_epoch bigint, now_seq bigint, now_name text, now_at bigint, now_folded bigint, now_kept_from bigint)
language plpgsql set search_path = pawl, pg_temp set lock_timeout = '1s' as $$
begin
  perform from part a where a.p = of for update;
  update part a set seq = a.seq + cardinality(new_names), name = new_names[cardinality(new_names)],
    at = new_ats[cardinality(new_ats)]
  where a.p = of and a.epoch = in_epoch and a.seq = after_seq and a.name = after_name;
  done := found;
  if done then
    insert into log (p, first, last, epoch, prev, names, ats, texts)
    values (of, after_seq + 1, after_seq + cardinality(new_names), in_epoch, after_name, new_names, new_ats, new_texts);
  end if;
  return query select done, a.* from account(of) as a;
end $$;
