-- Before every migration. Pawl's functions run as their owner and find what they need in this schema: it must be new, empty,
-- or ours already, and nobody else may make things in it.
do $$
declare
  home oid := to_regnamespace('pawl');
  is_ours boolean := false;
  stranger text;
  others bigint;
begin
  if home is null then return; end if;
  if (select count(*) = 3 from pg_attribute a where a.attrelid = to_regclass('pawl.migration') and not a.attisdropped
        and a.attname in ('number', 'name', 'checksum')) then
    select exists (select from pawl.migration m where m.number = 1 and m.name = {{first}}) into is_ours;
  end if;
  if not is_ours then
    select min(pg_describe_object(d.classid, d.objid, 0)), count(*) - 1 into stranger, others
    from pg_depend d where d.refclassid = 'pg_namespace'::regclass and d.refobjid = home and d.deptype = 'n';
    if stranger is not null then
      raise exception using message = format('schema %s holds what is not ours: %s%s. Name one that does not exist yet.',
        home::regnamespace, stranger, case when others > 0 then format(' and %s more', others) end);
    end if;
  end if;
  select string_agg(coalesce(r.rolname, 'public'), ', ') into stranger
  from pg_namespace n cross join lateral aclexplode(n.nspacl) as a left join pg_roles r on r.oid = a.grantee
  where n.oid = home and a.privilege_type = 'CREATE' and a.grantee <> n.nspowner and r.rolname is distinct from current_user;
  if stranger is not null then
    raise exception using message = format('%s may make things in schema %s, and our functions would run them as their owner. Revoke create on it, or name another schema.',
      stranger, home::regnamespace);
  end if;
end $$;
