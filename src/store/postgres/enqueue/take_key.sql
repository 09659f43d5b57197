-- Takes a key, or says who has it. A key of `giver`, or one whose time is over, is free.
-- Caller: `bear`, `move_keyed`. Index: key's primary key. Locks: the key's row.
create or replace function pawl.take_key(tenant_name text, purpose_name text, key_text text, job_id bigint, until_ms bigint,
                              now_ms bigint, giver bigint)
returns bigint language plpgsql set search_path = pawl, pg_temp as $$
declare holder bigint;
begin
  loop
    insert into key (tenant, purpose, key, job, until) values (tenant_name, purpose_name, key_text, job_id, until_ms)
    on conflict (tenant, purpose, key) do update set job = excluded.job, until = excluded.until
      where key.job = excluded.job or key.until <= now_ms or key.job = giver
    returning job into holder;
    if found then return null; end if;
    select k.job into holder from key k where k.tenant = tenant_name and k.purpose = purpose_name and k.key = key_text;
    -- Gone in between: ask again.
    if found then return holder; end if;
  end loop;
end $$;
