-- The second wall, after every migration. A member of the installation's role may call the port's functions and read the
-- views, nothing else: no table, no helper. The functions run as their owner, with a fixed search path. Give the role to the
-- user your service logs in as: grant pawl_app_mydatabase to my_service;
--
-- Everything here goes by name, of what the files beside this one make: whatever else an owner keeps in this schema stays as
-- it is. Granted are the functions that a statement of ours calls, or a view that people read.
do $$
declare
  relations constant text[] := {{relations}};
  granted constant text[] := {{granted}};
  views constant text[] := {{views}};
  inner_ones constant text[] := {{inner}};
  home constant regnamespace := 'pawl';
  mark constant text := format('may use schema %s of database %s', home, current_database());
  app text := nullif(current_setting('pawl_migration.role', true), '');
  marked text;
  may_create boolean;
  t text;
  f record;
begin
  foreach t in array relations loop
    execute format('revoke all on %s.%I from public', home, t);
  end loop;
  for f in select p.oid::regprocedure as name, p.proconfig from pg_proc p
           where p.pronamespace = home and p.proname = any(granted || inner_ones) loop
    if f.proconfig is not null then execute format('alter function %s security definer', f.name); end if;
    execute format('revoke all on function %s from public', f.name);
  end loop;

  -- The role asked for; else the one that was given this installation before; else one of its own. Roles belong to the
  -- whole server: one name for every database would give its members in one of them all of them.
  app := coalesce(app, (
    select r.rolname from pg_proc p cross join lateral aclexplode(p.proacl) as a join pg_roles r on r.oid = a.grantee
    where p.pronamespace = home and p.proname = {{door}} and a.grantee <> p.proowner
    order by shobj_description(r.oid, 'pg_authid') = mark desc nulls last limit 1));
  if app is null then
    select format('%s_app_%s', n.nspname, current_database()) into app from pg_namespace n where n.oid = home;
    if octet_length(app) > 63 then app := 'app_' || md5(app); end if;
  end if;
  select shobj_description(r.oid, 'pg_authid') into marked from pg_roles r where r.rolname = app;
  if not found then
    -- Who may not make roles opens the store as the owner; the functions are the same.
    select r.rolcreaterole or r.rolsuper into may_create from pg_roles r where r.rolname = current_user;
    if not may_create then
      raise notice '%', format('role %I was not created: %I may not create roles', app, current_user);
      return;
    end if;
    execute format('create role %I nologin', app);
    execute format('comment on role %I is %L', app, mark);
  elsif marked <> mark and marked like 'may use schema % of database %' then
    raise exception using message = format('role %I is another installation''s: it %s. Name another with --role.', app, marked);
  end if;
  execute format('grant usage on schema %s to %I', home, app);
  foreach t in array views || {{readable}} loop
    execute format('grant select on %s.%I to %I', home, t, app);
  end loop;
  for f in select p.oid::regprocedure as name from pg_proc p where p.pronamespace = home and p.proname = any(granted) loop
    execute format('grant execute on function %s to %I', f.name, app);
  end loop;
end $$;
