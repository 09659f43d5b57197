begin;


do $$
declare
  home oid := to_regnamespace('"pawl"');
  is_ours boolean := false;
  stranger text;
  others bigint;
begin
  if home is null then return; end if;
  if (select count(*) = 3 from pg_attribute a where a.attrelid = to_regclass('"pawl".migration') and not a.attisdropped
        and a.attname in ('number', 'name', 'checksum')) then
    select exists (select from "pawl".migration m where m.number = 1 and m.name = '0001_tables.sql') into is_ours;
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


create schema if not exists "pawl";
create table if not exists "pawl".migration (
  number int primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default clock_timestamp(),
  needs int not null default 0,
  edition int
);
alter table "pawl".migration add column if not exists needs int not null default 0;
alter table "pawl".migration add column if not exists edition int;











create sequence "pawl".seen minvalue 0;
create sequence "pawl".lead minvalue 0;
select setval('"pawl".seen', 0), setval('"pawl".lead', 0);



create table "pawl".queue (
  id int generated always as identity primary key,
  hash text not null unique,
  tenant text not null,
  name text not null,
  paused boolean not null default false,
  main int references "pawl".queue,
  needs text,
  check ((main is null) = (needs is null))
);
create index queue_tenant on "pawl".queue (md5(tenant));
create index queue_name on "pawl".queue (md5(name));
create index queue_side on "pawl".queue (main, id) where main is not null;


create table "pawl".kind (
  id int generated always as identity primary key,
  hash text not null unique,
  queue int not null references "pawl".queue,
  type text not null,
  window_ms bigint not null check (window_ms > 0),
  policy text not null
);
create index kind_queue on "pawl".kind (queue, md5(type));




create table "pawl".job (
  id bigint primary key check (id > 0),
  created_at bigint not null,
  kind int not null,
  lane int not null,
  
  sum int,
  input text,
  head text,
  correlation text,
  marks text[]
);
create index job_created on "pawl".job using brin (created_at) with (pages_per_range = 32);
create index job_correlation on "pawl".job (correlation, id) where correlation is not null;



create table "pawl".mark (
  mark text not null,
  job bigint not null,
  primary key (mark, job)
);






create table "pawl".ready (
  id bigint not null,
  ready_at bigint not null,
  lane int not null,
  window_ms int not null check (window_ms > 0),
  kind int not null,
  bytes int,
  rev int,
  step bigint check (step & 15 in (5, 6, 7)),
  careful boolean check (careful),
  tick bigint,
  doc text,
  primary key (lane, ready_at, id),
  check ((doc is null) = (step is null) and (doc is null) = (rev is null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000, vacuum_truncate = off);


create unique index ready_id on "pawl".ready (id);
create index ready_tick on "pawl".ready (tick) where tick is not null;
create index ready_state on "pawl".ready (substr(doc, 7, 1), id) where doc is not null;






create table "pawl".lease (
  id bigint primary key,
  claim bigint not null check (claim <> 0),
  expires_at bigint not null,
  rev int not null,
  step bigint not null check (step & 15 in (1, 2)),
  from_step bigint,
  careful boolean check (careful),
  tick bigint,
  again bigint,
  doc text,
  beat jsonb,
  check (claim > 0 or doc is not null)
) with (fillfactor = 70,
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000, vacuum_truncate = off);


create table "pawl".rest (
  id bigint primary key,
  rev int,
  step bigint check (step & 15 in (0, 3, 4, 5)),
  tick bigint,
  doc text,
  check ((doc is null) = (step is null) and (doc is null) = (rev is null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index rest_tick on "pawl".rest (tick) where tick is not null;
create index rest_state on "pawl".rest (coalesce(substr(doc, 7, 1), 'n'), id);



create table "pawl".past (
  job bigint not null,
  at bigint not null,
  claim bigint,
  from_step bigint not null,
  to_step bigint not null,
  rev int not null,
  from_rev int not null,
  state "char",
  plain boolean not null,
  events text not null,
  output text,
  doc text,
  beats jsonb,
  
  primary key (job, from_rev),
  
  
  constraint forward_only check (to_step >= from_step and rev > from_rev),
  
  constraint ended_is_ended check (from_step & 15 <> 8 or to_step >> 36 > from_step >> 36 or to_step = from_step),
  constraint ended_has_state check ((to_step & 15 = 8) = (state is not null)),
  
  constraint attempt_by_claim check (
    coalesce(claim, 0) < 0 or (to_step >> 4) & 4294967295 = ((from_step >> 4) & 4294967295) + (case when claim is null then 0 else 1 end)
  )
) with (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 1000000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 200000);
create index past_at on "pawl".past using brin (at) with (pages_per_range = 32);
create index past_odd on "pawl".past (at, job) where not plain;

create index past_long on "pawl".past (at, job) where state is not null and rev >= 20;
create index past_state on "pawl".past (state, job) where state <> 'S';




create table "pawl".asked (
  job bigint not null,
  request bigint not null,
  from_rev int not null,
  primary key (job, request, from_rev)
);







create table "pawl".claim (
  id bigint generated always as identity primary key,
  request text not null unique,
  request_words text,
  worker text not null,
  actor text not null,
  nonce text not null,
  at bigint not null,
  tick bigint,
  refs int not null,
  jobs bigint[] not null,
  low bigint,
  high bigint,
  open int check (open > 0),
  loose bigint[],
  check ((low is null) = (open is null) and (low is null) = (high is null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index claim_bundle on "pawl".claim (low, high) where low is not null;
create index claim_tick on "pawl".claim (tick) where tick is not null;
create index claim_at on "pawl".claim (at);






create sequence "pawl".parked_number;
create unlogged table "pawl".parked (
  id bigint primary key default nextval('"pawl".parked_number'),
  request text not null unique,
  request_words text,
  worker text not null,
  actor text not null,
  nonce text not null,
  lanes int[] not null,
  wanted int not null,
  max_bytes bigint not null,
  until bigint not null,
  channel text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);



create table "pawl".entry (
  id bigint generated always as identity primary key,
  pos bigint,
  at bigint not null,
  claim bigint,
  jobs bigint[] not null,
  revs int[] not null,
  kinds int[] not null,
  shapes text[] not null,
  void bigint[]
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

alter table "pawl".entry alter jobs set storage external;
alter table "pawl".claim alter jobs set storage external;
create index entry_unplaced on "pawl".entry (id) where pos is null;
create unique index entry_pos on "pawl".entry (pos) where pos is not null;
create index entry_at on "pawl".entry (at);
create index entry_claim on "pawl".entry (claim) where claim is not null;

create table "pawl".tally (
  kind int not null,
  state "char" not null,
  count bigint not null,
  primary key (kind, state)
);

create table "pawl".feed (
  single boolean primary key default true check (single),
  pos bigint not null,
  trimmed bigint not null,
  purged bigint not null
);
insert into "pawl".feed (pos, trimmed, purged) values (0, 0, 0);


create table "pawl".key (
  tenant text not null,
  purpose text not null,
  key text not null,
  job bigint not null,
  until bigint,
  primary key (tenant, purpose, key)
);
create index key_job on "pawl".key (job);


create table "pawl".body (
  job bigint not null,
  key text not null,
  name text,
  text text not null,
  primary key (job, key)
);


create table "pawl".link (
  correlation text not null,
  job bigint not null,
  rev int not null,
  primary key (correlation, job, rev)
);
create index link_job on "pawl".link (job);

create table "pawl".annotation (
  job bigint not null,
  generation int not null,
  attempt int not null,
  command text not null,
  at bigint not null,
  actor text not null,
  request text not null,
  correlation text not null,
  outcome text,
  primary key (job, generation, attempt, command)
);

create table "pawl".setting (
  collection text not null,
  key text collate "C" not null,
  name text,
  text text not null,
  rev bigint not null check (rev > 0),
  updated_at bigint not null,
  primary key (collection, key)
);



alter table "pawl".ready add column again bigint;




drop index "pawl".past_odd;
create index past_led on "pawl".past (coalesce(state, chr(48 + (to_step & 15)::int)::"char"), at, job) where not plain;














create table "pawl".flow_key (
  id int generated always as identity primary key,
  tenant text not null,
  key text collate "C" not null,
  name text,
  gate text not null,
  since bigint not null,
  rate_ms bigint not null,
  per_ms bigint not null,
  weight double precision not null check (weight > 0),
  text text not null,
  log text,
  rev int not null,
  spent numeric not null default 0,
  spent_in bigint not null default 0,
  wake_at bigint,
  version bigint not null default 0,
  unique (tenant, key)
);
create index flow_key_wake on "pawl".flow_key (wake_at) where wake_at is not null;



create table "pawl".flow (
  id int generated always as identity primary key,
  hash text not null unique,
  lane int not null,
  priority int not null,
  keys int[] not null,
  tenant text not null,
  weigher text collate "C" not null,
  pass double precision not null default 0,
  waits_at text collate "C",
  next_at bigint,
  version bigint not null default 0
);
create index flow_waits on "pawl".flow (waits_at, priority, pass, id) where waits_at is not null;

create index flow_keys on "pawl".flow using gin (keys) with (fastupdate = off);
create index flow_next on "pawl".flow (next_at) where next_at is not null;



alter table "pawl".ready add column held_at bigint;


create table "pawl".slot (
  key int not null,
  job bigint not null,
  flow int not null,
  let_in bigint not null,
  claimed bigint,
  primary key (key, job)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index slot_job on "pawl".slot (job);
create index slot_standing on "pawl".slot (let_in) where claimed is null;


create table "pawl".pace (
  key int not null,
  claimed bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index pace_key on "pawl".pace (key, claimed);


create table "pawl".spend (
  id bigint generated always as identity primary key,
  key int not null,
  at bigint not null,
  amount numeric not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index spend_key on "pawl".spend (key);


alter table "pawl".queue add column limited boolean not null default false;
create index queue_limited on "pawl".queue (coalesce(main, id)) where limited;



create table "pawl".arrival (
  id bigint generated always as identity primary key,
  flow int references "pawl".flow,
  key int,
  queue int,
  check (num_nonnulls(flow, key, queue) = 1)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, vacuum_truncate = off);
create index arrival_flow on "pawl".arrival (flow) where flow is not null;
create index arrival_key on "pawl".arrival (key) where key is not null;
create index arrival_queue on "pawl".arrival (queue) where queue is not null;


create table "pawl".hunger (
  place text collate "C" not null,
  priority int not null,
  since bigint not null,
  primary key (place, priority)
);



alter table "pawl".rest add column judge bigint;
update "pawl".rest set judge = 0 where rev is null;
create index rest_judge on "pawl".rest (judge) where judge is not null;


create index flow_account on "pawl".flow (waits_at, priority, weigher, pass) where waits_at is not null;

insert into "pawl".migration (number, name, checksum, needs) values (1, '0001_tables.sql', '9e96a7f8d8fbb9918557a11766659f30f24f4f9cfc79e6cd9d25d3d58438a8db', 0);
insert into "pawl".migration (number, name, checksum, needs) values (2, '0002_again.sql', '9b02c57f0f6b56f7b45b0b12ed615a22b8e94961a9c07ae5b1596067fcf47099', 0);
insert into "pawl".migration (number, name, checksum, needs) values (3, '0003_past_led.sql', 'b167c875ed4bb0ff514ff04fdf6beda718b1e5df9e7e4fc5bd10a024da94b960', 0);
insert into "pawl".migration (number, name, checksum, needs) values (4, '0004_flow.sql', '440e5ae39cc0938410917b3b7fb9c18bc1d31619c0a333727cbb99e01d323b3e', 0);
insert into "pawl".migration (number, name, checksum, needs) values (5, '0005_judge.sql', 'a1d2fa33e17b6be3db090681a6128c85338cc89b97334cf3eb8f5eda7cacb55b', 0);
insert into "pawl".migration (number, name, checksum, needs) values (6, '0006_accounts.sql', 'b5ac467397ccb5ae090feb66a38eeb2bac71e604378178bf1866ab65dc75e44a', 0);
set local check_function_bodies = off;




create or replace function "pawl".count_ended(bundles bigint[], counts int[]) returns bigint[] language plpgsql as $$
declare
  bundle record;
  uncounted bigint[];
begin
  for bundle in select u.id, sum(u.n)::int as n from unnest(bundles, counts) as u(id, n) group by u.id order by u.id loop
    perform from "pawl".claim k where k.id = bundle.id for update skip locked;
    if not found then
      uncounted := uncounted || bundle.id;
      continue;
    end if;
    update "pawl".claim k set open = nullif(k.open - bundle.n, 0), low = case when k.open > bundle.n then k.low end,
      high = case when k.open > bundle.n then k.high end,
      tick = case when k.open > bundle.n or k.loose is not null then k.tick end
    where k.id = bundle.id;
  end loop;
  return uncounted;
end $$;



create or replace function "pawl".leave_bundles(ids bigint[]) returns void
language sql set search_path = "pawl", pg_temp as $$
  
  with near as materialized (
    select c.id, c.jobs from claim c where c.low is not null and c.jobs && ids
      and c.low <= (select max(u) from unnest(ids) as u) and c.high >= (select min(u) from unnest(ids) as u)
  )
  select loosen_from(c.id, array(select unnest(c.jobs) intersect select unnest(ids))) from (select * from near order by id) as c
$$;




create or replace function "pawl".let_go_bundled(ids bigint[], bundles bigint[],
  out jobs bigint[], out claims bigint[], out revs int[], out from_steps bigint[], out steps bigint[]) language plpgsql as $$
declare
  of_them bigint[] := array(select distinct u from unnest(bundles) as u order by u);
begin
  
  if current_setting('transaction_isolation') <> 'read committed' then return; end if;
  
  perform set_config('lock_timeout', '5s', true);
  perform pg_advisory_xact_lock_shared(hashtextextended('"pawl".claim', u.id)) from unnest(of_them) as u(id);
  perform set_config('lock_timeout', '100ms', true);
  select array_agg(x.id), array_agg(x.claim), array_agg(2), array_agg(7::bigint),
         array_agg(17::bigint)
    into jobs, claims, revs, from_steps, steps
  from (
    (select unnest(ids) as id, unnest(bundles) as claim
     intersect select unnest(k.jobs), k.id from "pawl".claim k where k.id = any(of_them) and k.low is not null
     except select unnest(k.loose), k.id from "pawl".claim k where k.id = any(of_them))
    order by id
  ) as x;
end $$;







create or replace function "pawl".loosen(ids bigint[], all_of_them boolean default false) returns void
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms' set jit = off set enable_seqscan = off as $$
declare
  c record;
  of_it bigint[];
begin
  if not exists (select from claim k where k.low is not null) then return; end if;
  ids := array(select u.id from unnest(ids) as u(id)
               left join lateral (select l.id from lease l where l.id = u.id limit 1) l on true where l.id is null);
  
  for c in with near as materialized (
      select k.id, k.jobs, k.loose from claim k where k.low is not null and k.low <= (select max(u) from unnest(ids) as u)
        and k.high >= (select min(u) from unnest(ids) as u)
    ) select * from near order by id loop
    of_it := array(select unnest(ids) intersect select unnest(c.jobs) except select unnest(c.loose));
    continue when cardinality(of_it) = 0;
    perform loosen_from(c.id, case when all_of_them or cardinality(c.loose || of_it) > 16 then c.jobs else of_it end);
  end loop;
end $$;





create or replace function "pawl".loosen_from(claim_id bigint, ids bigint[]) returns void
language plpgsql set search_path = "pawl", pg_temp set plan_cache_mode = force_generic_plan
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  it claim%rowtype;
  loosened int;
begin
  if not exists (select from claim c where c.id = claim_id and c.low is not null) then return; end if;
  
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = '40001', message = 'jobs claimed together can be parted in a READ COMMITTED transaction only';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('"pawl".claim', claim_id));
  select * into it from claim c where c.id = claim_id and c.low is not null for update;
  if not found then return; end if;
  
  insert into lease (id, claim, expires_at, rev, step)
  select u.id, claim_id, it.at + k.window_ms, 2, 17 from (select unnest(ids) except select unnest(it.loose)) as u(id)
  cross join lateral (select j.kind from job j where j.id = u.id limit 1) j
  cross join lateral (select k.window_ms from kind k where k.id = j.kind limit 1) k
  left join lateral (select p.job from past p where p.job = u.id limit 1) p on true
  where p.job is null;
  get diagnostics loosened = row_count;
  
  if cardinality(ids) = cardinality(it.jobs) then loosened := it.open; end if;
  update claim c set loose = array(select unnest(it.loose) union select unnest(ids)), open = nullif(c.open - loosened, 0),
    low = case when c.open > loosened then c.low end, high = case when c.open > loosened then c.high end
  where c.id = claim_id;
end $$;




create or replace function "pawl".loosen_if_free(claim_id bigint) returns boolean
language plpgsql set search_path = "pawl", pg_temp as $$
declare all_jobs bigint[];
begin
  select c.jobs into all_jobs from claim c where c.id = claim_id and c.low is not null;
  if not found then return true; end if;
  if not pg_try_advisory_xact_lock(hashtextextended('"pawl".claim', claim_id)) then return false; end if;
  perform loosen_from(claim_id, all_jobs);
  return true;
end $$;














create or replace function "pawl".claim(request_id text, request_text text, worker_id text, actor_name text, nonce_text text,
                           lanes int[], starts bigint[], wanted int, max_bytes bigint,
                           was_parked boolean default false, park_ms bigint default null, park_channel text default null)
returns table (now_ms bigint, claimed_at bigint, nonce text, bundle bigint, is_repeat boolean, is_parked boolean,
               ids bigint[], times bigint[], kinds int[], job_lanes int[], heads text, inputs text, docs text, logged_attempts int[])
language plpgsql rows 1
set search_path = "pawl", pg_temp set lock_timeout = '100ms' set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_incremental_sort = off set enable_material = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  claim_id bigint;
  taken record;
  one_kind int;
  one_lane int;
  is_bundle boolean;
begin
  
  if was_parked then delete from parked p where p.request = request_id; end if;
  select c.id into claim_id from claim c where c.request = request_id;
  if claim_id is not null then
    return query select started, r.* from claim_replay(claim_id, max_bytes, started) as r;
    return;
  end if;
  is_repeat := false;
  nonce := nonce_text;

  
  
  taken := claim_take(lanes, starts, wanted, started);
  if taken.ids is null then
    now_ms := started; claimed_at := started; is_parked := park_ms > 0;
    if is_parked then
      perform claim_park(request_id, request_text, worker_id, actor_name, nonce_text, lanes, wanted, max_bytes, started + park_ms, park_channel);
    end if;
    return next;
    return;
  end if;

  
  is_bundle := taken.touched = 0 and taken.first_tick is null
    and cardinality(taken.ids) >= coalesce(nullif(current_setting('pawl_bundle.least', true), '')::int, 16);
  if taken.first_kind = taken.last_kind then one_kind := taken.first_kind; end if;
  if is_bundle then
    
    select a.lane into one_lane from ready a join ready z on z.lane = a.lane
    where a.ctid = taken.tids[1] and z.ctid = taken.tids[cardinality(taken.tids)];
  end if;
  claim_id := claim_stamp(taken.at, taken.tids, one_kind, taken.touched > 0, is_bundle);
  insert into claim (id, request, request_words, worker, actor, nonce, at, tick, refs, jobs, low, high, open)
  overriding system value
  values (claim_id, request_id, request_text, worker_id, actor_name, nonce_text, taken.at,
          least(taken.first_tick, taken.at + taken.shortest_ms), cardinality(taken.ids), taken.ids, case when is_bundle then taken.lowest end,
          case when is_bundle then taken.highest end, case when is_bundle then cardinality(taken.ids) end);
  now_ms := taken.at; claimed_at := taken.at; is_parked := false;
  if is_bundle then bundle := claim_id; end if;
  if taken.touched = 0 and taken.bytes <= max_bytes then
    return query select now_ms, claimed_at, nonce, bundle, is_repeat, is_parked, a.*, null::int[]
      from claim_answer(taken.ids, one_kind, one_lane, E'\x1f' || nonce) as a;
  else
    return query select now_ms, claimed_at, nonce, bundle, is_repeat, is_parked, a.*, null::int[]
      from claim_answer_each(taken.ids, max_bytes, E'\x1f' || nonce) as a;
  end if;
end $$;







create or replace view "pawl".owned as
select l.id, abs(l.claim) as claim, l.claim < 0 as logged, l.expires_at, l.rev, l.step, l.doc, l.beat from "pawl".lease l
union all
select u.id, c.id, false,
  
  c.at + (select k.window_ms from "pawl".job j join "pawl".kind k on k.id = j.kind where j.id = u.id),
  2, 17::bigint, null, null
from "pawl".claim c cross join lateral unnest(c.jobs) as u(id)
where c.low is not null and (c.loose is null or u.id <> all(c.loose))
  and not exists (select from "pawl".past p where p.job = u.id);




create or replace function "pawl".owned_of(job_id bigint)
returns table (id bigint, claim bigint, logged boolean, expires_at bigint, rev int, step bigint, doc text, beat jsonb)
language sql stable as $$
  select l.id, abs(l.claim), l.claim < 0, l.expires_at, l.rev, l.step, l.doc, l.beat from "pawl".lease l where l.id = job_id
  union all
  select job_id, c.id, false,
    c.at + (select k.window_ms from "pawl".job j join "pawl".kind k on k.id = j.kind where j.id = job_id),
    2, 17::bigint, null, null
  from "pawl".claim c
  where c.low <= job_id and c.high >= job_id and c.jobs @> array[job_id] and (c.loose is null or job_id <> all(c.loose))
    and not exists (select from "pawl".past p where p.job = job_id)
$$;




create or replace function "pawl".recount(bundles bigint[]) returns void
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  bundle bigint;
  it claim%rowtype;
  left_open int;
begin
  foreach bundle in array bundles loop
    select * into it from claim k where k.id = bundle and k.low is not null for update;
    continue when not found;
    select nullif(count(*), 0) into left_open from (select unnest(it.jobs) except select unnest(it.loose)) as u(id)
    left join lateral (select p.job from past p where p.job = u.id limit 1) p on true where p.job is null;
    update claim k set open = left_open, low = case when left_open > 0 then k.low end,
      high = case when left_open > 0 then k.high end,
      tick = case when left_open > 0 or k.loose is not null then k.tick end
    where k.id = bundle;
  end loop;
end $$;







create or replace function "pawl".settle_bundles(items json, jobs bigint[], revs int[], kinds int[], shapes text[], bundles bigint[])
returns table (now_ms bigint, ended boolean, uncounted text)
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  alike record;
  bundle record;
  of_these int;
  of_all int := 0;
  of_bundles bigint[] := '{}';
  counts int[] := '{}';
begin
  
  if current_setting('transaction_isolation') <> 'read committed' then
    return query select started, false, null::text;
    return;
  end if;
  
  perform set_config('lock_timeout', '5s', true);
  perform pg_advisory_xact_lock_shared(hashtextextended('"pawl".claim', u.id)) from unnest(bundles) as u(id);
  perform set_config('lock_timeout', '100ms', true);
  begin
    
    if octet_length(items::text) < 32 * cardinality(jobs) then
      for alike in select * from json_to_recordset(items)
          as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, c bigint) loop
        if alike.r <> 2 or alike.v <= alike.r or alike.s & 15 <> 8
           or alike.s >> 4 <> 1 or alike.n <= started then
          raise exception using errcode = 'PW002';
        end if;
        select k.jobs, k.loose into bundle from claim k where k.id = alike.c and k.low is not null;
        insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
        select u.id, alike.a, alike.c, 7, alike.s, alike.v, 1, alike.z, alike.p is not null, alike.e, alike.o, alike.d
        from (select unnest(alike.i) intersect select unnest(bundle.jobs) except select unnest(bundle.loose)) as u(id);
        get diagnostics of_these = row_count;
        of_bundles := of_bundles || alike.c;
        counts := counts || of_these;
        of_all := of_all + of_these;
      end loop;
    else
      select array_agg(e.bundle), array_agg(e.jobs), coalesce(sum(e.jobs), 0) into of_bundles, counts, of_all
      from settle_each_bundled(items, bundles, started) as e;
    end if;
    if of_all < cardinality(jobs) then raise exception using errcode = 'PW002'; end if;
  exception when sqlstate 'PW002' or unique_violation then
    return query select started, false, null::text;
    return;
  end;
  insert into entry (at, jobs, revs, kinds, shapes) values (started, jobs, revs, kinds, shapes);
  return query select started, true, count_ended(of_bundles, counts)::text;
end $$;





create or replace function "pawl".settle_each_bundled(items json, bundles bigint[], started bigint)
returns table (bundle bigint, jobs int)
language plpgsql set search_path = "pawl", pg_temp set jit = off set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off set enable_hashjoin = on as $$
begin
  return query
  with x as materialized (
    select unnest(x.i) as i, x.r, x.n, x.v, x.s, x.a, x.z, x.e, x.p, x.d, x.o, x.c from json_to_recordset(items)
      as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, c bigint)
  ), ours as materialized (
    select k.id as claim, unnest(k.jobs) as job from claim k where k.id = any(bundles) and k.low is not null
    except select k.id, unnest(k.loose) from claim k where k.id = any(bundles)
  ), closed as (
    insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
    select x.i, x.a, x.c, 7, x.s, x.v, 1, x.z, x.p is not null, x.e, x.o, x.d
    from x join ours o on o.claim = x.c and o.job = x.i
    where x.r = 2 and x.v > x.r and x.s & 15 = 8
      and x.s >> 4 = 1 and (x.n is null or x.n > started)
    returning past.claim
  )
  select c.claim, count(*)::int from closed c group by c.claim;
end $$;






create or replace function "pawl".claim_answer(job_ids bigint[], one_kind int, one_lane int, separator text)
returns table (ids bigint[], times bigint[], kinds int[], lanes int[], heads text, inputs text, docs text) language sql stable as $$
  select array_agg(j.id), array_agg(j.created_at), coalesce(array_agg(j.kind) filter (where one_kind is null), array[one_kind]),
         coalesce(array_agg(j.lane) filter (where one_lane is null), array[one_lane]), string_agg(coalesce(j.head, E'\x01'), separator),
         string_agg(coalesce(j.input, E'\x01'), separator), null::text
  from "pawl".job j where j.id = any(job_ids)
$$;




create or replace function "pawl".claim_answer_each(job_ids bigint[], max_bytes bigint, separator text)
returns table (ids bigint[], times bigint[], kinds int[], lanes int[], heads text, inputs text, docs text) language sql stable as $$
  select array_agg(x.id), array_agg(x.created_at), array_agg(x.kind), array_agg(x.lane), string_agg(coalesce(x.head, E'\x01'), separator),
         string_agg(coalesce(x.input, E'\x01'), separator), string_agg(coalesce(x.doc, E'\x01'), separator)
  from (
    select j.id, j.created_at, j.kind, j.lane, j.head, l.doc,
           case when sum(coalesce(octet_length(j.input), 0)) over (order by u.n) <= max_bytes then j.input end as input
    from unnest(job_ids) with ordinality as u(id, n)
    
    
    cross join lateral (select j.* from "pawl".job j where j.id = u.id limit 1) j
    left join lateral (select l.doc from "pawl".lease l where l.id = u.id limit 1) l on true
    order by u.n
  ) as x
$$;




create or replace function "pawl".claim_limited(request_id text, request_text text, worker_id text, actor_name text, nonce_text text,
                           lanes int[], starts bigint[], wanted int, max_bytes bigint, was_parked boolean, park_ms bigint, park_channel text, free int)
returns table (now_ms bigint, claimed_at bigint, nonce text, bundle bigint, is_repeat boolean, is_parked boolean,
               ids bigint[], times bigint[], kinds int[], job_lanes int[], heads text, inputs text, docs text, logged_attempts int[])
language plpgsql rows 1
set search_path = "pawl", pg_temp set lock_timeout = '100ms' set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_incremental_sort = off set enable_material = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  claim_id bigint;
  taken record;
begin
  if was_parked then delete from parked p where p.request = request_id; end if;
  select c.id into claim_id from claim c where c.request = request_id;
  if claim_id is not null then
    return query select started, r.* from claim_replay(claim_id, max_bytes, started) as r;
    return;
  end if;
  is_repeat := false;
  nonce := nonce_text;
  taken := claim_take_limited(lanes, starts, wanted, free, started);
  if taken.ids is null then
    now_ms := started; claimed_at := started; is_parked := park_ms > 0;
    if is_parked then
      perform claim_park(request_id, request_text, worker_id, actor_name, nonce_text, lanes, wanted, max_bytes, started + park_ms, park_channel);
    end if;
    return next;
    return;
  end if;
  claim_id := claim_stamp(taken.at, taken.tids, case when taken.first_kind = taken.last_kind then taken.first_kind end, taken.touched > 0, false);
  insert into claim (id, request, request_words, worker, actor, nonce, at, tick, refs, jobs) overriding system value
  values (claim_id, request_id, request_text, worker_id, actor_name, nonce_text, taken.at,
          least(taken.first_tick, taken.at + taken.shortest_ms), cardinality(taken.ids), taken.ids);
  update slot s set claimed = taken.at where s.job = any(taken.ids);
  return query select taken.at, taken.at, nonce_text, null::bigint, false, false, a.*, null::int[]
    from claim_answer_each(taken.ids, max_bytes, E'\x1f' || nonce_text) as a;
end $$;





create or replace function "pawl".claim_replay(claim_id bigint, max_bytes bigint, started bigint)
returns table (claimed_at bigint, nonce text, bundle bigint, is_repeat boolean, is_parked boolean, ids bigint[], times bigint[],
               kinds int[], lanes int[], heads text, inputs text, docs text, logged_attempts int[]) language plpgsql as $$
declare
  it "pawl".claim;
  job_ids bigint[];
begin
  perform "pawl".loosen_from(claim_id, (select c.jobs from "pawl".claim c where c.id = claim_id));
  select * into it from "pawl".claim c where c.id = claim_id;
  select array_agg(u.job order by u.n),
         array_agg(case when l.claim < 0 then (l.step >> 4) & 4294967295 end order by u.n)
    into job_ids, logged_attempts
  from unnest(it.jobs) with ordinality as u(job, n)
  join "pawl".lease l on l.id = u.job and abs(l.claim) = claim_id and l.expires_at > started;
  return query select it.at, it.nonce, null::bigint, true, false, a.*, logged_attempts
    from "pawl".claim_answer_each(job_ids, max_bytes, E'\x1f' || it.nonce) as a;
end $$;






create or replace function "pawl".claim_stamp(claimed_at bigint, tids tid[], one_kind int, any_touched boolean, is_bundle boolean) returns bigint
language plpgsql as $$
declare
  claim_id bigint := nextval('"pawl".claim_id_seq');
  kinds int[] := array[one_kind];
  revs int[] := '{ 2 }';
  shapes text[] := '{ qcc }';
begin
  if one_kind is null then
    kinds := array(select r.kind from unnest(tids) with ordinality as u(tid, n) join "pawl".ready r on r.ctid = u.tid order by u.n);
  end if;
  if any_touched then
    select case when min(r.rev) = max(r.rev) then array[min(r.rev)] else array_agg(r.rev order by r.n) end,
           case when min(r.shape) = max(r.shape) then array[min(r.shape)] else array_agg(r.shape order by r.n) end
      into revs, shapes
    from (select u.n, coalesce(r.rev, 1) + 1 as rev, case coalesce(r.step, 7) & 15 when 5 then 'lcc' when 6 then 'tcc' when 7 then 'qcc' end as shape
          from unnest(tids) with ordinality as u(tid, n) join "pawl".ready r on r.ctid = u.tid) as r;
  end if;
  insert into "pawl".entry (at, claim, jobs, revs, kinds, shapes) values (claimed_at, claim_id, '{}', revs, kinds, shapes);
  if is_bundle then delete from "pawl".ready r where r.ctid = any(tids);
  else
    with gone as (
      delete from "pawl".ready r where r.ctid = any(tids)
      
      returning r.id, claimed_at + r.window_ms as expires_at, r.rev, r.step, r.careful, r.tick, r.doc
    )
    insert into "pawl".lease (id, claim, expires_at, rev, step, from_step, careful, tick, doc)
    select r.id, claim_id, r.expires_at, coalesce(r.rev, 1) + 1,
           ((coalesce(r.step, 7) >> 4) + 1 << 4) + 1,
           r.step, r.careful, r.tick, r.doc
    from gone r;
  end if;
  return claim_id;
end $$;






create or replace function "pawl".claim_take(lanes int[], starts bigint[], wanted int, started bigint,
  out tids tid[], out ids bigint[], out lowest bigint, out highest bigint, out first_kind int, out last_kind int,
  out shortest_ms int, out first_tick bigint, out touched bigint, out bytes bigint, out at bigint) language plpgsql as $$
begin
  select array_agg(r.tid), array_agg(r.id), min(r.id), max(r.id), min(r.kind), max(r.kind),
         min(r.window_ms), min(r.tick), count(coalesce(r.rev, r.careful::int)), coalesce(sum(r.bytes), 0),
         
         greatest(started, max("pawl".updated_at(r.doc)))
    into tids, ids, lowest, highest, first_kind, last_kind, shortest_ms, first_tick, touched, bytes, at
  from (
    select r.* from (
      select a.lane, a.start from unnest(lanes, starts) with ordinality as a(lane, start, n)
      cross join lateral (select from "pawl".queue q where q.id = a.lane / 10 and not q.paused limit 1) q order by a.n
    ) as a
    cross join lateral (
      select r.ctid as tid, r.id, r.kind, r.window_ms, r.tick, r.rev, r.careful, r.bytes, r.doc from "pawl".ready r
      where r.lane = a.lane and r.ready_at >= coalesce(a.start, 0) and r.ready_at <= started and (r.tick is null or r.tick > started)
      order by r.lane, r.ready_at, r.id limit wanted for update skip locked
    ) as r
    limit wanted
  ) as r;
end $$;




create or replace function "pawl".claim_take_limited(lanes int[], starts bigint[], wanted int, free int, started bigint,
  out tids tid[], out ids bigint[], out first_kind int, out last_kind int, out shortest_ms int, out first_tick bigint, out touched bigint,
  out at bigint) language plpgsql as $$
declare
  found record;
  most int;
  found_ones record;
begin
  at := started;
  touched := 0;
  
  for found in
    select a.lane, a.start, a.lane > 1000000000 as is_limited from unnest(lanes, starts) with ordinality as a(lane, start, n)
    cross join lateral (select from "pawl".queue q where q.id = a.lane % 1000000000 / 10 and not q.paused limit 1) q
    cross join lateral (select from "pawl".ready r where r.lane = a.lane and r.ready_at >= coalesce(a.start, 0) and r.ready_at <= started limit 1) r
    order by a.n
  loop
    most := wanted - coalesce(cardinality(ids), 0);
    exit when most <= 0;
    if found.is_limited then most := least(most, free); end if;
    continue when most <= 0;
    select array_agg(r.tid) as tids, array_agg(r.id) as ids, min(r.kind) as first_kind, max(r.kind) as last_kind, min(r.window_ms) as shortest_ms,
           min(r.tick) as first_tick, count(coalesce(r.rev, r.careful::int)) as touched, max("pawl".updated_at(r.doc)) as at
      into found_ones
    from (
      select r.ctid as tid, r.id, r.kind, r.window_ms, r.tick, r.rev, r.careful, r.doc from "pawl".ready r
      where r.lane = found.lane and r.ready_at >= coalesce(found.start, 0) and r.ready_at <= started and (r.tick is null or r.tick > started)
      order by r.lane, r.ready_at, r.id limit most for update skip locked
    ) as r;
    continue when found_ones.ids is null;
    if found.is_limited then free := free - cardinality(found_ones.ids); end if;
    tids := tids || found_ones.tids; ids := ids || found_ones.ids;
    first_kind := least(first_kind, found_ones.first_kind); last_kind := greatest(last_kind, found_ones.last_kind);
    shortest_ms := least(shortest_ms, found_ones.shortest_ms); first_tick := least(first_tick, found_ones.first_tick);
    touched := touched + found_ones.touched; at := greatest(at, found_ones.at);
  end loop;
end $$;



create or replace function "pawl".claim_words(claim_id bigint) returns json language plpgsql stable
set search_path = "pawl", pg_temp as $$
begin
  return (select json_build_array(c.worker, c.actor, c.nonce, coalesce(c.request_words, c.request), c.at) from claim c where c.id = claim_id);
end $$;



create or replace function "pawl".inputs(job_ids bigint[]) returns table (id bigint, input text)
language plpgsql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
begin
  return query select j.id, j.input from job j where j.id = any(job_ids) and j.input is not null;
end $$;





create or replace function "pawl".is_contended(lanes int[], at_ms bigint) returns boolean
language plpgsql volatile set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return exists (
    select from unnest(lanes[1:64]) as a(lane)
    cross join lateral (select from queue q where q.id = a.lane / 10 and not q.paused limit 1) q
    cross join lateral (
      select from ready r where r.lane = a.lane and r.ready_at <= at_ms and (r.tick is null or r.tick > at_ms) limit 1
    ) r
  );
end $$;






create or replace function "pawl".lanes_there(lanes int[], queues int[]) returns int[]
language plpgsql stable set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  found_ones int[];
begin
  with recursive there as (
    select q.queue, r.lane from unnest(queues) as q(queue)
    cross join lateral (
      select r.lane from ready r where r.lane >= q.queue * 10 and r.lane < (q.queue + 1) * 10 order by r.lane limit 1
    ) r
    union all
    select t.queue, r.lane from there t
    cross join lateral (
      select r.lane from ready r where r.lane > t.lane and r.lane < (t.queue + 1) * 10 order by r.lane limit 1
    ) r
  )
  select array_agg(t.lane) into found_ones from there t;
  if found_ones is null then return '{}'; end if;
  return array(select a.lane from unnest(lanes) with ordinality as a(lane, n) join unnest(found_ones) as t(lane) on t.lane = a.lane order by a.n);
end $$;





create or replace function "pawl".clock() returns bigint language sql volatile as
$$ select greatest("pawl".server_ms() + pg_sequence_last_value('"pawl".lead'), pg_sequence_last_value('"pawl".seen')) $$;






create or replace function "pawl".keep_time() returns table (now_ms bigint, set_back bigint)
language plpgsql rows 1 set search_path = "pawl", pg_temp as $$
declare
  server bigint;
  ahead bigint;
  before bigint;
begin
  for try in 1..2 loop
    server := server_ms();
    ahead := pg_sequence_last_value('"pawl".lead');
    before := pg_sequence_last_value('"pawl".seen');
    now_ms := greatest(server + ahead, before);
    set_back := 0;
    exit when abs(server + ahead - before) < 500;
    if try = 1 then
      exit when not pg_try_advisory_xact_lock(hashtextextended('"pawl".clock', 0));
    elsif server + ahead < before then
      set_back := before - ahead - server;
      perform setval('lead', before - server);
    else
      perform setval('seen', now_ms), setval('lead', ahead - least(ahead, least(now_ms - before, 1000) / 32));
    end if;
  end loop;
  return next;
end $$;



create or replace function "pawl".kept_at() returns bigint language sql volatile as
$$ select pg_sequence_last_value('"pawl".seen') $$;



create or replace function "pawl".server_ms() returns bigint language sql volatile as
$$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$;





create or replace function "pawl".bear(item json, now_ms bigint, giver bigint) returns text
language plpgsql set search_path = "pawl", pg_temp as $$
declare
  x record;
  k record;
  holder bigint;
begin
  select * into x from json_to_record(item)
    as x(i bigint, t bigint, k int, l int, w int, b text, h text, c text, m text[], r bigint, n bigint, p int, ca boolean, tn text, ks json, hl int);
  insert into job (id, created_at, kind, lane, sum, input, head, correlation, marks)
  values (x.i, x.t, x.k, x.l, sum_of(x.b), x.b, x.h, x.c, x.m) on conflict (id) do nothing;
  if not found then return 'id:' || x.i; end if;
  if x.m is not null then insert into mark (mark, job) select unnest(x.m), x.i; end if;
  for k in select * from json_to_recordset(coalesce(x.ks, '[]')) as k(p text, k text, u bigint) loop
    holder := take_key(x.tn, k.p, k.k, x.i, k.u, now_ms, giver);
    if holder is not null then
      raise exception using errcode = 'PW001', message = k.p || ':' || holder, detail = k.k;
    end if;
  end loop;
  if x.p = 1 then insert into rest (id, tick, judge) values (x.i, x.n, x.t);
  else
    insert into ready (id, ready_at, lane, window_ms, kind, bytes, careful, tick)
    values (x.i, coalesce(x.r, x.t), coalesce(x.hl, x.l), x.w, x.k, coalesce(octet_length(x.b), 0), x.ca, x.n);
    if x.hl is not null then insert into arrival (flow) values (-x.hl); end if;
  end if;
  return null;
end $$;











create or replace function "pawl".bear_all(items json, now_ms bigint) returns text[]
language plpgsql set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_material = off set plan_cache_mode = force_generic_plan as $$
declare
  wish record;
  
  met text;
  mine int[] := '{}';
  verdicts text[];
  
  takers bigint[] := '{}';
  place int;
  is_over boolean;
  have_ids boolean;
begin
  
  select case when count(w.there) + count(w.holder) + count(w.o) - count(distinct w.number) filter (where w.o is not null) = 0
           then array_fill(null::text, array[max(w.n)::int]) end, coalesce(bool_or(w.is_over), false),
         count(distinct w.i) = max(w.n)
  into verdicts, is_over, have_ids from wishes_of(items, now_ms) as w;
  if not have_ids then return null; end if;
  if verdicts is null then
    for wish in select w.*, lead(w.n) over () is distinct from w.n as is_last from wishes_of(items, now_ms) as w loop
      if met is null then
        met := case when wish.there is not null then 'id:' || wish.i else wish.p || ':' || coalesce(wish.holder, takers[wish.number]) end;
        if wish.o is not null and wish.lasts then mine := array_append(mine, wish.number); end if;
      end if;
      if wish.is_last then
        if met is null then
          foreach place in array mine loop takers[place] := wish.i; end loop;
        end if;
        verdicts := array_append(verdicts, met);
        met := null;
        mine := '{}';
      end if;
    end loop;
  end if;

  if is_over then
    delete from key h using (
      select x.i, x.tn, k.p, k.k
      from rows from (json_to_recordset(items) as (i bigint, tn text, ks json)) with ordinality as x(i, tn, ks, place),
           json_to_recordset(coalesce(x.ks, '[]')) as k(p text, k text)
      where verdicts[x.place] is null order by x.tn collate "C", k.p collate "C", k.k collate "C"
    ) as w
    where h.tenant = w.tn and h.purpose = w.p and h.key = w.k and (h.until <= now_ms or h.job = w.i);
  end if;

  with x as materialized (
    select * from rows from (json_to_recordset(items)
      as (i bigint, t bigint, k int, l int, w int, b text, h text, c text, m text[], r bigint, n bigint, p int, ca boolean, tn text, ks json, s text, hl int))
      with ordinality as x(i, t, k, l, w, b, h, c, m, r, n, p, ca, tn, ks, s, hl, place)
    where verdicts[x.place] is null
  ),
  taken as (
    insert into key (tenant, purpose, key, job, until)
    select distinct on (x.tn collate "C", k.p collate "C", k.k collate "C") x.tn, k.p, k.k, x.i, k.u
    from x, json_to_recordset(coalesce(x.ks, '[]')) as k(p text, k text, u bigint)
    order by x.tn collate "C", k.p collate "C", k.k collate "C", x.place desc
  ),
  born as (
    insert into job (id, created_at, kind, lane, sum, input, head, correlation, marks)
    select x.i, x.t, x.k, x.l, sum_of(x.b), x.b, x.h, x.c, x.m from x
  ),
  marked as (insert into mark (mark, job) select unnest(x.m), x.i from x),
  resting as (insert into rest (id, tick, judge) select x.i, x.n, x.t from x where x.p = 1),
  waiting as (
    insert into ready (id, ready_at, lane, window_ms, kind, bytes, careful, tick)
    select x.i, coalesce(x.r, x.t), coalesce(x.hl, x.l), x.w, x.k, coalesce(octet_length(x.b), 0), x.ca, x.n from x where x.p is null
  ),
  arrived as (insert into arrival (flow) select distinct -x.hl from x where x.hl is not null and x.p is null)
  insert into entry (at, jobs, revs, kinds, shapes)
  select now_ms, array_agg(x.i), '{1}', array_agg(x.k), array_agg(x.s) from x having count(*) > 0;
  return verdicts;
end $$;







create or replace function "pawl".bear_each(items json, now_ms bigint, busy_most int) returns text[]
language plpgsql set search_path = "pawl", pg_temp as $$
declare
  item json;
  verdict text;
  busy int := 0;
  
  wanted text[];
  held text[] := '{}';
  answers text[] := '{}';
  jobs bigint[] := '{}';
  kinds int[] := '{}';
  shapes text[] := '{}';
begin
  for item in select * from json_array_elements(items) loop
    wanted := array(select concat_ws(E'\x1f', item ->> 'tn', k ->> 'p', k ->> 'k') from json_array_elements(item -> 'ks') as k);
    begin
      verdict := case when busy >= busy_most or wanted && held then 'busy:' else bear(item, now_ms, null) end;
    exception
      when sqlstate 'PW001' then verdict := sqlerrm;
      when lock_not_available or deadlock_detected then
        verdict := 'busy:';
        busy := busy + 1;
        held := held || wanted;
    end;
    answers := array_append(answers, verdict);
    if verdict is null then
      jobs := jobs || (item ->> 'i')::bigint;
      kinds := kinds || (item ->> 'k')::int;
      shapes := shapes || (item ->> 's');
    end if;
  end loop;
  if cardinality(jobs) > 0 then
    insert into entry (at, jobs, revs, kinds, shapes) values (now_ms, jobs, '{1}', kinds, shapes);
  end if;
  return answers;
end $$;








create or replace function "pawl".enqueue(items json, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off as $$
declare
  started bigint := clock();
  theirs text := current_setting('lock_timeout');
  answers text[];
begin
  if not of_the_callers then perform set_config('lock_timeout', '20ms', true);
  elsif theirs = '0' then perform set_config('lock_timeout', '5s', true);
  end if;
  for tries in 1..3 loop
    begin
      answers := bear_all(items, started);
      exit;
    exception
      
      when unique_violation then null;
      when lock_not_available or deadlock_detected then
        
        perform set_config('lock_timeout', '1ms', true);
        exit;
    end;
  end loop;
  if answers is null then answers := bear_each(items, started, case when not of_the_callers then 10 end); end if;
  perform set_config('lock_timeout', theirs, true);
  return query select started, array_to_json(answers);
end $$;



create or replace function "pawl".enqueue_each(items json) returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '1ms' as $$
declare
  started bigint := clock();
begin
  return query select started, array_to_json(bear_each(items, started, 10));
end $$;




create or replace function "pawl".enqueue_together(items json, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = "pawl", pg_temp as $$
declare
  answer record;
begin
  begin
    select * into answer from enqueue(items, of_the_callers);
    if exists (select from json_array_elements_text(answer.verdicts) as v where v is not null) then
      raise exception 'undone' using errcode = 'PW002';
    end if;
  exception when sqlstate 'PW002' then null;
  end;
  return query select answer.now_ms, answer.verdicts;
end $$;






create or replace function "pawl".insert_keyed(jobs bigint[], inputs text[], heads text[], times bigint[], kinds int[], lanes int[],
                                  windows int[], correlations text[], marks text[], readies bigint[], ticks bigint[],
                                  pending int[], shapes text[], keys text[], takers bigint[], tenants text[], purposes text[],
                                  untils bigint[]) returns bigint
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '20ms' set jit = off set enable_seqscan = off
set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  
  t1 text := case when cardinality(tenants) = 1 then tenants[1] end;
  p1 text := case when cardinality(purposes) = 1 then purposes[1] end;
  u1 bigint := case when cardinality(untils) = 1 then untils[1] end;
begin
  perform from (select unnest(keys) as k, unnest(tenants) as t, unnest(purposes) as p) as w
  where (select h.job from key h where h.tenant = coalesce(w.t, t1) and h.purpose = coalesce(w.p, p1) and h.key = w.k) is not null
  limit 1;
  if found then return null; end if;
  insert into key (tenant, purpose, key, job, until)
  select coalesce(t, t1), coalesce(p, p1), k, j, coalesce(u, u1)
  from (select unnest(keys) as k, unnest(takers) as j, unnest(tenants) as t, unnest(purposes) as p, unnest(untils) as u) as w
  order by coalesce(t, t1) collate "C", coalesce(p, p1) collate "C", k collate "C";
  return insert_plain(jobs, inputs, heads, times, kinds, lanes, windows, correlations, marks, readies, ticks, pending, shapes);
end $$;







create or replace function "pawl".insert_plain(jobs bigint[], inputs text[], heads text[], times bigint[], kinds int[], lanes int[],
                                  windows int[], correlations text[], marks text[], readies bigint[], ticks bigint[],
                                  pending int[], shapes text[]) returns bigint
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms' as $$
declare
  now_ms bigint := clock();
  
  b1 text := case when cardinality(inputs) = 1 then inputs[1] end;
  h1 text := case when cardinality(heads) = 1 then heads[1] end;
  t1 bigint := times[1];
  k1 int := kinds[1];
  l1 int := lanes[1];
  w1 int := windows[1];
  c1 text := case when cardinality(correlations) = 1 then correlations[1] end;
  m1 text := case when cardinality(marks) = 1 then marks[1] end;
  r1 bigint := case when cardinality(readies) = 1 then readies[1] end;
  n1 bigint := case when cardinality(ticks) = 1 then ticks[1] end;
  p1 int := case when cardinality(pending) = 1 then pending[1] end;
begin
  insert into job (id, created_at, kind, lane, sum, input, head, correlation, marks)
  select i, coalesce(t, t1), coalesce(k, k1), coalesce(l, l1), sum_of(coalesce(b, b1)), coalesce(b, b1), coalesce(h, h1),
         coalesce(c, c1), coalesce(m, m1)::text[]
  from (select unnest(jobs) as i, unnest(inputs) as b, unnest(heads) as h, unnest(times) as t, unnest(kinds) as k,
               unnest(lanes) as l, unnest(correlations) as c, unnest(marks) as m) as x;
  insert into ready (id, ready_at, lane, window_ms, kind, bytes, tick)
  select i, coalesce(r, r1, t, t1), coalesce(l, l1), coalesce(w, w1), coalesce(k, k1),
         coalesce(octet_length(coalesce(b, b1)), 0), coalesce(n, n1)
  from (select unnest(jobs) as i, unnest(inputs) as b, unnest(times) as t, unnest(kinds) as k, unnest(lanes) as l,
               unnest(windows) as w, unnest(readies) as r, unnest(ticks) as n, unnest(pending) as p) as x
  where coalesce(p, p1) is null;
  if marks <> '{}' then
    insert into mark (mark, job) select unnest(coalesce(m, m1)::text[]), i
    from (select unnest(jobs) as i, unnest(marks) as m) as x;
  end if;
  if pending <> '{}' then
    insert into rest (id, tick, judge) select i, coalesce(n, n1), coalesce(t, t1)
    from (select unnest(jobs) as i, unnest(ticks) as n, unnest(times) as t, unnest(pending) as p) as x where coalesce(p, p1) = 1;
  end if;
  insert into entry (at, jobs, revs, kinds, shapes) values (now_ms, jobs, '{1}', kinds, shapes);
  return now_ms;
end $$;




create or replace function "pawl".sum_of(input text) returns int language sql immutable strict as
$$ select (hashtextextended(input collate "C", 0) & 2147483647)::int $$;



create or replace function "pawl".take_key(tenant_name text, purpose_name text, key_text text, job_id bigint, until_ms bigint,
                              now_ms bigint, giver bigint)
returns bigint language plpgsql set search_path = "pawl", pg_temp as $$
declare holder bigint;
begin
  loop
    insert into key (tenant, purpose, key, job, until) values (tenant_name, purpose_name, key_text, job_id, until_ms)
    on conflict (tenant, purpose, key) do update set job = excluded.job, until = excluded.until
      where key.job = excluded.job or key.until <= now_ms or key.job = giver
    returning job into holder;
    if found then return null; end if;
    select k.job into holder from key k where k.tenant = tenant_name and k.purpose = purpose_name and k.key = key_text;
    
    if found then return holder; end if;
  end loop;
end $$;








create or replace function "pawl".wishes_of(items json, now_ms bigint)
returns table (n bigint, o bigint, i bigint, p text, number int, there bigint, holder bigint, is_over boolean,
               lasts boolean)
language plpgsql set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
begin
  return query select w.n, w.o, w.i, w.p, w.number, w.there, case when w.is_held then (w.had).job end, not w.is_held,
         w.u > now_ms or w.u is null
  from (
    select v.*, (v.had).job <> v.i and ((v.had).until > now_ms or (v.had).until is null) as is_held
    from (
      select x.n, k.o, x.i, k.p, k.u,
             dense_rank() over (order by x.tn collate "C", k.p collate "C", k.k collate "C")::int as number,
             (select j.id from job j where j.id = x.i) as there,
             (select h from key h where h.tenant = x.tn and h.purpose = k.p and h.key = k.k) as had
      from rows from (json_to_recordset(items) as (i bigint, tn text, ks json)) with ordinality as x(i, tn, ks, n)
      left join rows from (json_to_recordset(coalesce(x.ks, '[]')) as (p text, k text, u bigint))
        with ordinality as k(p, k, u, o) on true
    ) as v
  ) as w
  order by w.n, w.o;
end $$;




create or replace function "pawl".backlog(lanes int) returns table (tenant text, name text, since bigint)
language sql volatile rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  with recursive firsts as (
    (select r.lane, r.ready_at, r.id, 1 as n from ready r where r.lane > 0 order by r.lane, r.ready_at, r.id limit 1)
    union all
    select f.lane, f.ready_at, f.id, p.n + 1 from firsts p
    cross join lateral (select r.lane, r.ready_at, r.id from ready r where r.lane > p.lane order by r.lane, r.ready_at, r.id limit 1) f
    where p.n < lanes
  )
  select q.tenant, q.name, min(w.since) from firsts f
  cross join lateral (
    select coalesce(r.held_at, r.ready_at) as since from ready r
    where r.lane = f.lane and r.ready_at = f.ready_at and r.id = f.id limit 1
  ) w
  cross join lateral (select q.* from queue q where q.id = f.lane % 1000000000 / 10 limit 1) q
  where w.since <= clock() group by q.tenant, q.name
$$;



create or replace function "pawl".feed_end() returns table (now_ms bigint, pos bigint, purged bigint)
language sql volatile set search_path = "pawl", pg_temp as $$ select clock(), f.pos, f.purged from feed f $$;



create or replace function "pawl".feed_page(after_pos bigint, entries int)
returns table (pos bigint, jobs bigint[], revs int[], kinds int[], shapes text[], void bigint[])
language sql stable rows 20 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select e.pos, coalesce(c.jobs, e.jobs), e.revs, e.kinds, e.shapes, e.void
  from entry e
  left join lateral (select c.jobs from claim c where c.id = e.claim limit 1) c on true where e.pos >= after_pos order by e.pos limit entries
$$;






create or replace function "pawl".place_entries(most int, patient boolean) returns int
language plpgsql set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare
  base bigint;
  placed int;
begin
  if patient then perform pg_advisory_xact_lock(hashtextextended('"pawl".feed', 0));
  elsif not pg_try_advisory_xact_lock(hashtextextended('"pawl".feed', 0)) then return null;
  end if;
  select pos into base from feed for update;
  
  
  with fresh as materialized (
    select e.id, row_number() over (order by e.id) as n from entry e where e.pos is null order by e.id limit most
  ), done as (
    update entry e set pos = base + f.n from fresh f
    
    where e.id >= f.id and e.id <= f.id
    returning e.claim, e.jobs, e.kinds, e.shapes, e.void
  ), whole as materialized (
    select coalesce(c.jobs, d.jobs) as jobs, d.kinds, d.shapes, d.void from done d
    left join lateral (select c.jobs from claim c where c.id = d.claim limit 1) c on true
  ), counted as (
    
    select w.kinds[1] as kind, w.shapes[1] as shape, sum(cardinality(w.jobs) - coalesce(cardinality(w.void), 0)) as n
    from whole w where cardinality(w.kinds) = 1 and cardinality(w.shapes) = 1 group by 1, 2
    union all
    select case when cardinality(w.kinds) = 1 then w.kinds[1] else w.kinds[u.n] end,
           case when cardinality(w.shapes) = 1 then w.shapes[1] else w.shapes[u.n] end, count(*)
    from whole w cross join lateral unnest(w.jobs) with ordinality as u(job, n)
    where (cardinality(w.kinds) > 1 or cardinality(w.shapes) > 1) and not u.job = any(coalesce(w.void, '{}')) group by 1, 2
  ), sides as (
    select kind, left(shape, 1)::"char" as state, -n as n from counted
    union all select kind, right(shape, 1)::"char", n from counted
  ), sums as (
    select kind, state, sum(n) as n from sides where state <> '-' group by kind, state having sum(n) <> 0
  ), folded as (
    insert into tally (kind, state, count) select kind, state, n from sums
    on conflict (kind, state) do update set count = tally.count + excluded.count
  ), gone as (
    select coalesce(sum(n), 0) as n from counted where right(shape, 1) = '-'
  ), moved as (
    update feed set pos = base + (select count(*) from fresh), purged = purged + (select n from gone)
    where (select count(*) from fresh) > 0
  )
  select count(*) into placed from fresh;
  return placed;
end $$;



create or replace function "pawl".tallies(tenant_name text) returns table (kind int, state text, count bigint)
language sql stable rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select t.kind, t.state::text, t.count from tally t where tenant_name is null and t.count <> 0
  union all
  select t.kind, t.state::text, t.count from queue q
  cross join lateral (select k.id from kind k where k.queue = q.id offset 0) k
  cross join lateral (select t.* from tally t where t.kind = k.id offset 0) t
  where md5(q.tenant) = md5(tenant_name) and q.tenant = tenant_name and t.count <> 0
$$;



create or replace function "pawl".tallies_in(queue_name text, tenant_name text) returns table (kind int, state text, count bigint)
language sql stable rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select t.kind, t.state::text, t.count from queue q
  cross join lateral (select k.id from kind k where k.queue = q.id offset 0) k
  cross join lateral (select t.* from tally t where t.kind = k.id offset 0) t
  where md5(q.name) = md5(queue_name) and q.name = queue_name and (tenant_name is null or q.tenant = tenant_name) and t.count <> 0
$$;




create or replace function "pawl".trim_feed(older_than bigint, most int) returns int
language plpgsql set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare
  started bigint := clock();
  gone int;
begin
  
  with old as (select e.id from entry e where e.at < older_than and e.pos is not null order by e.at limit most for update skip locked),
  cut as (delete from entry e using old where e.id >= old.id and e.id <= old.id returning e.claim),
  freed as (delete from claim c using cut where c.id >= cut.claim and c.id <= cut.claim and c.refs <= 0)
  select count(*) into gone from cut;
  
  delete from parked p where p.until < started
    and p.id <= (select max(o.id) from (select o.id from parked o order by o.id limit most) as o);
  return gone;
end $$;















create or replace function "pawl".flow_apply(plan json) returns table (applied boolean, let_in int, freed int[])
language plpgsql rows 1 set search_path = "pawl", pg_temp set lock_timeout = '1s' set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  of_keys int[]; key_versions bigint[]; wakes bigint[]; spents numeric[]; windows bigint[]; spends bigint[];
  of_flows int[]; flow_versions bigint[]; passes double precision[]; places text[]; nexts bigint[];
  of_queues int[];
  seen bigint[];
  rated record;
  its record;
begin
  
  select * into its from json_to_record(plan) as x(a json, k json, f json, q json, s json, l json, b json, g json, m json, o json, u json);
  seen := array(select json_array_elements_text(its.a)::bigint);
  select array_agg(x.i), array_agg(x.v), array_agg(x.w), array_agg(x.s), array_agg(x.n) into of_keys, key_versions, wakes, spents, windows
  from json_to_recordset(its.k) as x(i int, v bigint, w bigint, s numeric, n bigint);
  select array_agg(x.i), array_agg(x.v), array_agg(x.p), array_agg(x.w), array_agg(x.n) into of_flows, flow_versions, passes, places, nexts
  from json_to_recordset(its.f) as x(i int, v bigint, p double precision, w text, n bigint);
  of_queues := array(select x.i from json_to_recordset(its.q) as x(i int));
  spends := array(select unnest(x.c) from json_to_recordset(its.k) as x(c bigint[]));
  perform from flow_key k where k.id = any(of_keys) order by k.id for no key update;
  perform from flow f where f.id = any(of_flows) order by f.id for no key update;
  perform from queue q where q.id = any(of_queues) order by q.id for no key update;
  
  applied := not exists (select from flow_key k where k.id = any(of_keys) and k.version <> key_versions[array_position(of_keys, k.id)])
    and not exists (select from flow f where f.id = any(of_flows) and f.version <> flow_versions[array_position(of_flows, f.id)])
    and not exists (select from json_to_recordset(its.q) as x(i int, z boolean)
                    cross join lateral (select from queue q where q.id = x.i and q.paused <> x.z limit 1) q)
    and not exists (select from json_to_recordset(its.s) as x(i int, n int) where x.n < (
                      select count(*) from (select from ready r where r.lane = x.i + 1000000000 limit x.n + 1) as r))
    and not exists (select from json_array_elements_text(its.u) as u(key)
                    cross join lateral (select from arrival a where a.key = -u.key::int and a.id <> all(seen) limit 1) a);
  let_in := 0;
  if not applied then return next; return; end if;
  
  perform set_config('synchronous_commit', 'off', true);

  
  update flow_key k set version = k.version + 1, wake_at = wakes[array_position(of_keys, k.id)], spent = spents[array_position(of_keys, k.id)],
    spent_in = windows[array_position(of_keys, k.id)] where k.id = any(of_keys);
  for rated in select k.id, k.rate_ms from flow_key k where k.id = any(of_keys) and k.rate_ms > 0 loop
    delete from pace p where p.key = rated.id and p.claimed <= started - rated.rate_ms;
  end loop;
  if cardinality(spends) > 0 then delete from spend w where w.id = any(spends); end if;
  update flow f set version = f.version + 1, pass = passes[array_position(of_flows, f.id)], waits_at = places[array_position(of_flows, f.id)],
    next_at = nexts[array_position(of_flows, f.id)] where f.id = any(of_flows);
  if json_array_length(its.g) > 0 then
    insert into hunger (place, priority, since) select distinct x.p, x.n, started from json_to_recordset(its.g) as x(p text, n int)
    order by 1, 2 on conflict (place, priority) do update set since = excluded.since;
  end if;
  if cardinality(seen) > 0 then delete from arrival a where a.id = any(seen); end if;
  if json_array_length(its.m) + json_array_length(its.o) > 0 then
    insert into arrival (key, queue) select json_array_elements_text(its.m)::int, null
    union all select null, json_array_elements_text(its.o)::int;
  end if;

  if json_array_length(its.b) > 0 then freed := flow_take_back(its.b); end if;
  if json_array_length(its.l) > 0 then let_in := flow_move_in(its.l, started); end if;
  return next;
end $$;




create or replace function "pawl".flow_count(of_key int, of_since bigint, of_rate_ms bigint, started bigint,
  out taken int, out taken_since int, out started_within int, out oldest bigint) language plpgsql stable as $$
begin
  select count(*), count(*) filter (where s.let_in >= of_since), count(*) filter (where s.claimed is null or s.claimed > started - of_rate_ms),
         min(s.claimed) filter (where s.claimed > started - of_rate_ms)
    into taken, taken_since, started_within, oldest from "pawl".slot s where s.key = of_key;
  if of_rate_ms = 0 then
    started_within := 0;
    oldest := null;
  else
    select started_within + count(*), least(oldest, min(p.claimed)) into started_within, oldest
    from "pawl".pace p where p.key = of_key and p.claimed > started - of_rate_ms;
  end if;
end $$;







create or replace function "pawl".flow_due(started bigint, most int,
  out seen bigint[], out keys int[], out flows int[], out lanes int[], out queues int[]) language plpgsql stable as $$
begin
  select array_agg(a.id), array_agg(abs(a.key)) filter (where a.key is not null), array_agg(a.flow) filter (where a.flow is not null),
         array_agg(a.queue) filter (where a.queue is not null)
    into seen, keys, flows, queues from (select a.* from "pawl".arrival a order by a.id limit most) as a;
  
  seen := seen || array(
    select a.id from (select distinct unnest(flows)) as u(flow)
    cross join lateral (select a.id from "pawl".arrival a where a.flow = u.flow and a.id > seen[cardinality(seen)] limit 10 * most) a);
  keys := keys || array(select k.id from "pawl".flow_key k where k.wake_at <= started order by k.wake_at limit most)
    
    || array(select s.key from (select s.* from "pawl".slot s where s.claimed is null and s.let_in <= started - 5000 order by s.let_in offset 0) as s
             cross join lateral (select from "pawl".flow f where f.waits_at = 'key ' || s.key and f.id <> s.flow limit 1) as f
             group by s.key order by min(s.let_in) limit most);
  flows := flows || array(select f.id from "pawl".flow f where f.next_at <= started order by f.next_at limit most);
  lanes := array(
    with recursive waited as (
      (select f.waits_at from "pawl".flow f where f.waits_at > 'lane ' and f.waits_at < 'lane!' order by f.waits_at limit 1)
      union all
      select f.waits_at from waited w cross join lateral (
        select f.waits_at from "pawl".flow f where f.waits_at > w.waits_at and f.waits_at < 'lane!' order by f.waits_at limit 1) f
    )
    select l.lane from (select substr(w.waits_at, 6)::int as lane from waited w) as l
    
    where (select count(*) from (select from "pawl".ready r where r.lane = l.lane + 1000000000 limit 32) as r) < 32
    limit most);
end $$;





create or replace function "pawl".flow_flows(ids int[], heads int) returns json language plpgsql stable as $$
declare
  lanes int[]; standing bigint[];
begin
  
  select array_agg(l.lane), array_agg((
           select count(*) from (select from "pawl".ready r where r.lane = l.lane + 1000000000 limit 32) as r)) into lanes, standing
  from (select distinct f.lane from unnest(ids) as i(id) cross join lateral (select f.lane from "pawl".flow f where f.id = i.id limit 1) f) as l;
  return (
    select json_agg(json_build_array(f.id, f.version, f.lane, f.priority, f.keys,
      coalesce((select k.weight from "pawl".flow_key k where k.tenant = f.tenant and k.key = f.weigher), 1), f.pass, f.waits_at, f.next_at, h.jobs, h.times,
      q.tenant, q.name, q.needs, q.paused, coalesce(q.main, q.id), standing[array_position(lanes, f.lane)], f.weigher))
    from unnest(ids) as i(id) cross join lateral (select f.* from "pawl".flow f where f.id = i.id limit 1) f
    cross join lateral (select q.* from "pawl".queue q where q.id = f.lane / 10 limit 1) q
    cross join lateral (
      select array_agg(r.id) as jobs, array_agg(r.ready_at) as times from (
        select r.id, r.ready_at from "pawl".ready r where r.lane = -f.id order by r.lane, r.ready_at, r.id
        limit heads) as r) h);
end $$;





create or replace function "pawl".flow_forget(of_tenant text, of_name text, of_rev int) returns boolean language plpgsql
set search_path = "pawl", pg_temp as $$
declare
  it flow_key;
  flows int[];
begin
  select * into it from flow_key k where k.tenant = of_tenant and k.key = of_name and k.rev = of_rev for update;
  if not found then return false; end if;
  flows := array(select f.id from flow f where f.keys @> array[it.id] order by f.id for update);
  
  if exists (select from slot s where s.key = it.id)
     or exists (select from unnest(flows) as f(id) cross join lateral (select from ready r where r.lane = -f.id limit 1) r) then
    return false;
  end if;
  delete from arrival a where a.key = it.id;
  delete from arrival a where a.key = -it.id;
  delete from arrival a where a.flow = any(flows);
  delete from flow f where f.id = any(flows);
  delete from spend w where w.key = it.id;
  delete from pace p where p.key = it.id;
  delete from flow_key k where k.id = it.id;
  return true;
end $$;




create or replace function "pawl".flow_free(items json, started bigint) returns void language plpgsql
set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  perform flow_vacate(array(select x.i from json_to_recordset(items) as x(i bigint)), started);
  insert into arrival (flow) select distinct x.f from json_to_recordset(items) as x(f int) where x.f is not null;
end $$;








create or replace function "pawl".flow_keys(key_ids int[], flow_ids int[], started bigint, most int) returns json language plpgsql stable as $$
begin
  return (
    select json_agg(json_build_array(k.id, k.version, k.gate, k.wake_at, k.spent, k.spent_in, w.ids, w.amounts, w.windows,
      c.taken, c.taken_since, case when k.rate_ms = 0 then 0 else c.within + p.within end, case when k.rate_ms > 0 then least(c.oldest, p.oldest) end,
      s.jobs, s.flows, s.let_in))
    from (select u.id, u.id = any(key_ids) as named from (
            select unnest(key_ids) union select unnest(f.keys) from unnest(flow_ids) as i(id)
            cross join lateral (select f.keys from "pawl".flow f where f.id = i.id limit 1) f) as u(id)) as i
    cross join lateral (select k.* from "pawl".flow_key k where k.id = i.id limit 1) k
    cross join lateral (select array_agg(w.id) as ids, array_agg(w.amount) as amounts, array_agg(w.at / greatest(k.per_ms, 1)) as windows
                        from "pawl".spend w where w.key = i.id) w
    cross join lateral (
      select count(*) as taken, count(*) filter (where s.let_in >= k.since) as taken_since,
             count(*) filter (where s.claimed is null or s.claimed > started - k.rate_ms) as within,
             min(s.claimed) filter (where s.claimed > started - k.rate_ms) as oldest from "pawl".slot s where s.key = i.id) c
    cross join lateral (select count(*) as within, min(p.claimed) as oldest from "pawl".pace p
                        where k.rate_ms > 0 and p.key = i.id and p.claimed > started - k.rate_ms) p
    cross join lateral (
      select array_agg(s.job order by s.n) as jobs, array_agg(s.flow order by s.n) as flows, array_agg(s.let_in order by s.n) as let_in from (
        
        select s.*, row_number() over (order by s.let_in desc, s.job desc) as n, count(*) over () as of
        from (select s.* from "pawl".slot s where i.named and s.key = i.id offset 0) as s where s.claimed is null) as s
      where s.n <= most or s.n > s.of - most) s);
end $$;





create or replace function "pawl".flow_left(items json, started bigint) returns void language plpgsql as $$
declare
  freed json;
  is_owned boolean;
  has_spent boolean;
begin
  select json_agg(json_build_object('i', x.i, 'f', case when x.m = 'hold' then x.f end)) filter (where x.m in ('hold', 'leave')),
         coalesce(bool_or(x.m = 'own'), false), count(x.sp) > 0 into freed, is_owned, has_spent
  from json_to_recordset(items) as x(i bigint, f int, m text, sp json);
  if freed is not null then perform "pawl".flow_free(freed, started); end if;
  if is_owned then
    insert into "pawl".slot (key, job, flow, let_in, claimed)
    select unnest(f.keys), x.i, x.f, started, started from json_to_recordset(items) as x(i bigint, f int, m text)
    cross join lateral (select f.keys from "pawl".flow f where f.id = x.f limit 1) f where x.m = 'own'
    on conflict (key, job) do update set claimed = excluded.claimed;
  end if;
  if not has_spent then return; end if;
  with spent as (
    insert into "pawl".spend (key, at, amount)
    select k.id, started, s.a from json_to_recordset(items) as x(f int, sp json)
    cross join lateral json_to_recordset(x.sp) as s(a numeric, k text)
    cross join lateral (select f.keys from "pawl".flow f where f.id = x.f limit 1) f
    cross join lateral unnest(f.keys) as i(id)
    cross join lateral (select k.id from "pawl".flow_key k where k.id = i.id and k.per_ms > 0 and (s.k is null or k.key = s.k) limit 1) k
    where x.sp is not null returning key
  )
  insert into "pawl".arrival (key) select distinct s.key from spent s;
end $$;



create or replace function "pawl".flow_lobby(jobs bigint[], flows int[], lanes int[]) returns json
language plpgsql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select json_agg(json_build_array(u.job, r.lane is not null, (
      select count(*) from (select from flow f where f.waits_at = 'lane ' || u.lane and f.id <> u.flow limit 1000) as f)) order by u.n)
    from unnest(jobs, flows, lanes) with ordinality as u(job, flow, lane, n)
    left join lateral (select r.lane from ready r where r.id = u.job and r.lane < 0 limit 1) r on true);
end $$;









create or replace function "pawl".flow_look(of_keys int[], of_flows int[], of_lanes int[], of_queues int[], is_ticker boolean, most int)
returns json language plpgsql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set enable_material = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  due record;
  seen bigint[];
  places text[];
  rings json;
  hunger json;
  shut json;
  flow_ids int[];
  heads int;
begin
  if is_ticker then
    due := flow_due(started, most);
    seen := coalesce(due.seen, '{}');
    of_keys := of_keys || due.keys; of_flows := of_flows || due.flows; of_lanes := of_lanes || due.lanes; of_queues := of_queues || due.queues;
  else
    seen := array(
      select a.id from unnest(of_keys || array(select -unnest(of_keys))) as u(key) cross join lateral (select a.id from arrival a where a.key = u.key limit most) a
      union
      select a.id from unnest(of_flows) as u(flow) cross join lateral (select a.id from arrival a where a.flow = u.flow limit most) a
      union
      select a.id from unnest(of_queues) as u(queue) cross join lateral (select a.id from arrival a where a.queue = u.queue limit most) a
      order by 1);
  end if;
  of_keys := array(select distinct unnest(of_keys) order by 1); of_flows := array(select distinct unnest(of_flows) order by 1);
  of_lanes := array(select distinct unnest(of_lanes) order by 1); of_queues := array(select distinct unnest(of_queues) order by 1);

  places := array(select 'key ' || u from unnest(of_keys) as u) || array(select 'lane ' || u from unnest(of_lanes) as u)
    || array(select 'queue ' || u from unnest(of_queues) as u);
  select json_agg(json_build_array(r.place, r.priority, r.ids)) into rings from (
    select p.place, n.priority, array(
      select f.id from flow f where f.waits_at = p.place and f.priority = n.priority
      order by f.waits_at, f.priority, f.pass, f.id limit 32) as ids
    from unnest(places) as p(place) cross join generate_series(0, 10 - 1) as n(priority)
  ) as r where cardinality(r.ids) > 0;
  select json_agg(json_build_array(h.place, h.priority, h.since)) into hunger
  from unnest(places) as p(place) cross join lateral (select h.* from hunger h where h.place = p.place limit 10) h;
  select json_agg(json_build_array(s.job, s.flow)) into shut from unnest(of_queues) as u(queue)
  cross join lateral ((select q.id from queue q where q.id = u.queue and q.paused limit 1)
                      union all (select q.id from queue q where q.main = u.queue and q.paused order by q.main, q.id limit most)) q
  cross join generate_series(0, 10 - 1) as n(priority)
  cross join lateral (select r.id from ready r where r.lane = q.id * 10 + n.priority + 1000000000 limit most) r
  cross join lateral (select s.job, s.flow from slot s where s.job = r.id limit 1) s;

  flow_ids := array(select distinct u.id from (
    select unnest(of_flows) union all
    select f.id::int from json_array_elements(rings) as r(ring) cross join lateral json_array_elements_text(r.ring -> 2) as f(id)) as u(id) order by 1);
  heads := greatest(2, least(32, most / greatest(1, cardinality(flow_ids))));
  return json_build_object('t', started, 'a', seen, 'k', of_keys, 'l', of_lanes, 'q', of_queues, 'f', of_flows, 'r', rings, 'g', hunger,
    's', shut, 'h', heads, 'fs', flow_flows(flow_ids, heads), 'o', flow_others(flow_ids), 'ks', flow_keys(of_keys, flow_ids, started, most));
end $$;








create or replace function "pawl".flow_mend(of_tenant text, of_keys json, seated json, held int[], spends json, claims json) returns void
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '1s' set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  key_ids int[];
  x record;
  let_in_at bigint;
  is_owned boolean;
begin
  key_ids := array(
    select k.id from json_array_elements_text(of_keys) as n(key)
    cross join lateral (select k.id from flow_key k where k.tenant = of_tenant and k.key = n.key limit 1) k order by 1);
  delete from slot s where s.key = any(key_ids)
    and (select true from ready r where r.id = s.job and r.lane > 1000000000 limit 1) is null
    and (select true from lease l where l.id = s.job limit 1) is null;
  for x in select o.i, o.f, o.c from json_to_recordset(seated) as o(i bigint, f int, c bigint) order by o.i loop
    let_in_at := null; is_owned := false;
    select r.ready_at into let_in_at from ready r where r.id = x.i and r.lane > 1000000000 limit 1 for update skip locked;
    if let_in_at is null then
      select true into is_owned from lease l where l.id = x.i limit 1 for update skip locked;
    end if;
    if let_in_at is not null or is_owned then
      insert into slot (key, job, flow, let_in, claimed)
      select distinct u.key, x.i, x.f, coalesce(let_in_at, x.c, started), case when is_owned then coalesce(x.c, started) end
      from flow f cross join lateral unnest(f.keys) as u(key) where f.id = x.f
      on conflict (key, job) do update set claimed = excluded.claimed where slot.claimed is distinct from excluded.claimed;
    end if;
  end loop;
  insert into spend (key, at, amount) select k.id, started, o.a from json_to_recordset(spends) as o(k text, a numeric)
  cross join lateral (select k.id from flow_key k where k.tenant = of_tenant and k.key = o.k and k.per_ms > 0 limit 1) k;
  insert into pace (key, claimed) select k.id, o.c from json_to_recordset(claims) as o(k text, c bigint)
  cross join lateral (select k.id from flow_key k where k.tenant = of_tenant and k.key = o.k and k.rate_ms > 0 limit 1) k;
  update flow f set waits_at = null, next_at = null, version = f.version + 1 where f.id = any(held);
  insert into arrival (flow) select unnest(held);
  insert into arrival (key) select unnest(key_ids);
end $$;





create or replace function "pawl".flow_move(items json, again boolean, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json) language plpgsql set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  answers text[];
  places int[];
  place int;
begin
  
  answers := case when again then unmoved(items, '{}', started, true) else array_fill('c'::text, array[json_array_length(items)]) end;
  places := array(
    select x.o from rows from (json_to_recordset(items) as (fl json)) with ordinality as x(fl, o)
    cross join lateral json_to_record(x.fl -> 'km') as w(t text, k text, v int)
    
    where answers[x.o] <> 'a' and (w.k is null or coalesce((select k.rev from flow_key k where k.tenant = w.t and k.key = w.k), 0) <= w.v));
  if cardinality(places) > 0 then
    begin
      answers := flow_move_some(items, places, answers, of_the_callers);
    exception when sqlstate 'PW003' then
      
      foreach place in array places loop
        begin
          answers := flow_move_some(items, array[place], answers, of_the_callers);
        exception when sqlstate 'PW003' then answers[place] := 'c';
        end;
      end loop;
    end;
  end if;
  return query select started, array_to_json(answers);
end $$;





create or replace function "pawl".flow_move_in(items json, started bigint) returns int language plpgsql as $$
declare
  jobs bigint[]; flows int[]; lanes int[];
begin
  select array_agg(h.i), array_agg(h.f), array_agg(h.lane) into jobs, flows, lanes from (
    select x.i, x.f, f.lane from json_to_recordset(items) as x(i bigint, f int)
    cross join lateral (select f.lane from "pawl".flow f where f.id = x.f limit 1) f
    cross join lateral (select from "pawl".ready r where r.id = x.i and r.lane = -x.f and r.ready_at <= started limit 1 for update skip locked) r
  ) as h;
  update "pawl".ready r set lane = lanes[array_position(jobs, r.id)] + 1000000000, ready_at = started, held_at = r.ready_at
  where r.id = any(jobs);
  insert into "pawl".slot (key, job, flow, let_in) select unnest(f.keys), u.job, u.flow, started from unnest(jobs, flows) as u(job, flow)
  cross join lateral (select f.keys from "pawl".flow f where f.id = u.flow limit 1) f;
  if coalesce(cardinality(jobs), 0) < json_array_length(items) then
    update "pawl".flow f set next_at = started where f.id = any(array(
      select x.f from json_to_recordset(items) as x(i bigint, f int) where x.i <> all(coalesce(jobs, '{}'))));
  end if;
  return coalesce(cardinality(jobs), 0);
end $$;






create or replace function "pawl".flow_move_some(items json, places int[], answers text[], of_the_callers boolean) returns text[]
language plpgsql as $$
declare
  chosen json;
  moved record;
  verdict text;
  n int := 0;
  left_ones json;
  of_key json;
  waited int[];
begin
  chosen := items;
  if cardinality(places) < cardinality(answers) then
    
    select json_agg(x.item order by x.n) into chosen from json_array_elements(items) with ordinality as x(item, n) where x.n = any(places);
  end if;
  select * into moved from "pawl".move(chosen, false, of_the_callers) as m;
  for verdict in select json_array_elements_text(moved.verdicts) loop
    n := n + 1;
    answers[places[n]] := verdict;
  end loop;
  select json_agg(x.fl order by x.o) into left_ones from rows from (json_to_recordset(items) as (fl json)) with ordinality as x(fl, o)
  where x.o = any(places) and answers[x.o] = 'a';
  if left_ones is null then return answers; end if;
  perform "pawl".flow_left(left_ones, moved.now_ms);
  
  waited := array(
    select u.f from (select distinct x.f from json_to_recordset(left_ones) as x(f int)) as u
    cross join lateral (select f.keys from "pawl".flow f where f.id = u.f limit 1) f
    where exists (select from unnest(f.keys) as k(id) cross join lateral (select from "pawl".flow w where w.waits_at = 'key ' || k.id limit 1) w));
  if cardinality(waited) > 0 then
    answers := array(
      select case when x.a = 'a' and x.f = any(waited) then 'aw' else x.a end
      from rows from (unnest(answers), json_to_recordset(items) as (fl json)) with ordinality as y(a, fl, o)
      cross join lateral (select y.a, (y.fl ->> 'f')::int as f) x order by y.o);
  end if;
  
  if exists (
    select from json_to_recordset(left_ones) as x(km json) cross join lateral json_to_record(x.km) as w(t text, k text, v int, z text)
    where w.z = 'same' and w.v <> coalesce((select k.rev from "pawl".flow_key k where k.tenant = w.t and k.key = w.k), 0)
  ) then raise exception using errcode = 'PW003'; end if;
  for of_key in select x.km from json_to_recordset(left_ones) as x(km json) where x.km is not null and x.km ->> 'z' is distinct from 'same'
      order by x.km ->> 't' collate "C", x.km ->> 'k' collate "C", (x.km ->> 'v')::int loop
    if not "pawl".flow_set(of_key) then raise exception using errcode = 'PW003'; end if;
  end loop;
  return answers;
end $$;





create or replace function "pawl".flow_others(ids int[]) returns json language plpgsql stable as $$
begin
  return (
    with f as materialized (
      select f.keys, f.lane, f.priority, f.weigher from unnest(ids) as i(id)
      cross join lateral (select f.* from "pawl".flow f where f.id = i.id limit 1) f
    ), may as materialized (
      select 'key ' || k.id as place, f.priority, f.weigher from f cross join lateral unnest(f.keys) as k(id)
      union select 'lane ' || f.lane, f.priority, f.weigher from f
      union select 'queue ' || coalesce(q.main, q.id), f.priority, f.weigher from f
      cross join lateral (select q.* from "pawl".queue q where q.id = f.lane / 10 limit 1) q
    ), firsts as materialized (
      select m.place, m.priority, l.pass from (select distinct m.place, m.priority from may m) as m
      cross join lateral (select l.pass from "pawl".flow l where l.waits_at = m.place and l.priority = m.priority
                          order by l.waits_at, l.priority, l.pass limit 1) l
    )
    select json_build_array((select json_agg(json_build_array(o.place, o.priority, o.pass)) from firsts o), (
      select json_agg(json_build_array(m.place, m.priority, m.weigher, o.pass)) from may m
      cross join lateral (select o.pass from "pawl".flow o where o.waits_at = m.place and o.priority = m.priority and o.weigher = m.weigher
                          order by o.waits_at desc, o.priority desc, o.weigher desc, o.pass desc limit 1) o
      where m.place = any(array(select o.place from firsts o)))));
end $$;






create or replace function "pawl".flow_set(it json) returns boolean language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '1s'
set jit = off set enable_seqscan = off as $$
declare
  x record;
  of_key int;
begin
  select * into x from json_to_record(it) as x(t text, k text, n text, v int, b text, g text, s bigint, r bigint, m bigint, w double precision, x text, l text, z text);
  if x.z = 'same' then return coalesce((select k.rev from flow_key k where k.tenant = x.t and k.key = x.k), 0) = x.v; end if;
  if x.z = 'forgotten' then return flow_forget(x.t, x.k, x.v); end if;
  if x.v = 0 then
    insert into flow_key as o (tenant, key, name, gate, since, rate_ms, per_ms, weight, text, log, rev)
    values (x.t, x.k, x.n, x.g, x.s, x.r, x.m, x.w, x.x, x.l, 1)
    on conflict (tenant, key) do update set gate = excluded.gate, since = excluded.since, rate_ms = excluded.rate_ms, per_ms = excluded.per_ms,
      weight = excluded.weight, text = excluded.text, log = excluded.log, rev = 1, version = o.version + 1 where o.rev = 0
    returning id into of_key;
  else
    update flow_key k set gate = x.g, since = x.s, rate_ms = x.r, per_ms = x.m, weight = x.w, text = x.x, log = coalesce(x.l, k.log),
      rev = k.rev + 1, version = k.version + 1 where k.tenant = x.t and k.key = x.k and k.rev = x.v and (x.b is null or k.text = x.b) returning k.id into of_key;
  end if;
  if of_key is null then
    return coalesce((select k.rev = x.v + 1 and k.text = x.x from flow_key k where k.tenant = x.t and k.key = x.k), false);
  end if;
  insert into arrival (key) values (of_key);
  return true;
end $$;






create or replace function "pawl".flow_settle(items json, jobs bigint[], revs int[], kinds int[], shapes text[], keys int[], key_revs int[])
returns table (now_ms bigint, missed json, waited int[], is_stale boolean) language plpgsql rows 1 set search_path = "pawl", pg_temp set jit = off
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  is_stale := exists (
    select from unnest(keys, key_revs) as u(key, rev) where u.rev is distinct from (select k.rev from flow_key k where k.id = u.key));
  if is_stale then
    now_ms := clock();
    return next;
    return;
  end if;
  select s.now_ms, s.missed into now_ms, missed from settle_leases(items, jobs, revs, kinds, shapes) as s;
  waited := flow_vacate(case when missed is null then jobs
                        else array(select unnest(jobs) except select json_array_elements_text(missed)::bigint) end, now_ms);
  return next;
end $$;



create or replace function "pawl".flow_stir(queue_hash text) returns void language plpgsql set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
begin
  insert into arrival (queue) select q.id from queue q
  cross join lateral (select from queue s where coalesce(s.main, s.id) = q.id and s.limited limit 1) s where q.hash = queue_hash;
end $$;




create or replace function "pawl".flow_sweep(most int) returns boolean
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '1s' set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  of_keys int[];
  found bigint;
  rated record;
begin
  select count(*), array_agg(distinct -a.key) into found, of_keys from (select a.key from arrival a where a.key < 0 order by a.key limit most) as a;
  if found = 0 then return false; end if;
  perform from flow_key k where k.id = any(of_keys) order by k.id for no key update;
  
  of_keys := array(select u.key from unnest(of_keys) as u(key) where not exists (select from flow f where f.waits_at = 'key ' || u.key));
  perform set_config('synchronous_commit', 'off', true);
  update flow_key k set version = k.version + 1 where k.id = any(of_keys);
  for rated in select k.id, k.rate_ms from flow_key k where k.id = any(of_keys) and k.rate_ms > 0 loop
    delete from pace p where p.key = rated.id and p.claimed <= started - rated.rate_ms;
  end loop;
  delete from arrival a where a.key = any(array(select -unnest(of_keys)));
  return found = most;
end $$;







create or replace function "pawl".flow_take_back(items json) returns int[] language plpgsql as $$
declare
  jobs bigint[]; flows int[]; nexts bigint[]; keys int[];
begin
  select array_agg(s.i), array_agg(s.f), array_agg(s.n) into jobs, flows, nexts from (
    select x.i, x.f, x.n from json_to_recordset(items) as x(i bigint, f int, n bigint)
    cross join lateral (select f.lane from "pawl".flow f where f.id = x.f limit 1) f
    cross join lateral (select from "pawl".ready r where r.id = x.i and r.lane = f.lane + 1000000000 limit 1 for update skip locked) r
  ) as s;
  update "pawl".ready r set lane = -flows[array_position(jobs, r.id)], ready_at = coalesce(r.held_at, r.ready_at), held_at = null
  where r.id = any(jobs);
  with freed as (delete from "pawl".slot s where s.job = any(jobs) returning s.key)
  select array_agg(distinct f.key) into keys from freed f;
  insert into "pawl".arrival (key, flow) select unnest(keys), null
  union all select distinct null::int, u.flow from unnest(flows, nexts) as u(flow, next) where u.next is null;
  update "pawl".flow f set waits_at = null, next_at = g.next, version = f.version + 1
  from (select u.flow, max(u.next) as next from unnest(flows, nexts) as u(flow, next) where u.next is not null group by 1) as g
  where f.id = g.flow;
  return keys;
end $$;



create or replace function "pawl".flow_told(job_ids bigint[]) returns json
language plpgsql volatile set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select json_agg(json_build_array(k.tenant, coalesce(k.name, k.key), k.text, k.rev) order by k.id)
    from (select distinct s.key from unnest(job_ids) as u(job) cross join lateral (select s.key from slot s where s.job = u.job limit 4) s) as i
    cross join lateral (select k.* from flow_key k where k.id = i.key limit 1) k);
end $$;





create or replace function "pawl".flow_vacate(jobs bigint[], started bigint) returns int[] language plpgsql as $$
declare
  keys int[];
begin
  with freed as (
    delete from "pawl".slot s where s.job = any(jobs) returning s.key, s.claimed
  ), paced as (
    insert into "pawl".pace (key, claimed) select f.key, f.claimed from freed f
    cross join lateral (select from "pawl".flow_key k where k.id = f.key and k.rate_ms > 0 and f.claimed > started - k.rate_ms limit 1) k
  )
  select array_agg(distinct f.key) into keys from freed f;
  insert into "pawl".arrival (key) select -u.key from unnest(keys) as u(key);
  return array(select u.key from unnest(keys) as u(key) where exists (select from "pawl".flow w where w.waits_at = 'key ' || u.key));
end $$;







create or replace function "pawl".flow_views(of_tenant text, keys json, after text, most int, anew boolean) returns json
language plpgsql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  key_ids int[];
begin
  key_ids := case when keys is null
    then array(select k.id from flow_key k where k.tenant = of_tenant and k.key > after order by k.tenant, k.key limit most)
    else array(select k.id from rows from (json_array_elements_text(keys)) with ordinality as x(key, n)
               cross join lateral (select k.id from flow_key k where k.tenant = of_tenant and k.key = x.key limit 1) k order by x.n) end;
  return (
    select json_build_array(started, json_agg(json_build_array(k.id, k.key, k.name, k.gate, k.text, k.log, k.rev, k.spent, k.spent_in, w.amounts, w.windows,
      c.taken, c.taken_since, c.started_within, c.oldest, p.jobs, p.let_in, p.claimed, h.held, r.counted) order by i.n))
    from unnest(key_ids) with ordinality as i(id, n)
    cross join lateral (select k.* from flow_key k where k.id = i.id limit 1) k
    cross join lateral (select array_agg(w.amount) as amounts, array_agg(w.at / greatest(k.per_ms, 1)) as windows from spend w where w.key = i.id) w
    cross join lateral flow_count(k.id, k.since, k.rate_ms, started) c
    left join lateral (
      select array_agg(s.job order by s.let_in, s.job) as jobs, array_agg(s.let_in order by s.let_in, s.job) as let_in,
             array_agg(s.claimed order by s.let_in, s.job) as claimed
      from (select s.* from (select s.* from slot s where s.key = i.id offset 0) as s where s.let_in >= k.since order by s.let_in, s.job limit 10) as s) p on k.since > 0
    cross join lateral (
      select count(*) as held from (
        select from flow f cross join lateral (select from ready r where r.lane = -f.id limit 1000) r where f.waits_at = 'key ' || i.id limit 1000) as r) h
    left join lateral (
      select count(coalesce(r.id, l.id)) as counted from (select s.job from slot s where s.key = i.id and anew offset 0) as s
      left join lateral (select r.id from ready r where r.id = s.job and r.lane > 1000000000 limit 1) r on true
      left join lateral (select l.id from lease l where l.id = s.job limit 1) l on true) r on anew);
end $$;





create or replace function "pawl".flow_watch(flows int[]) returns json
language plpgsql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select json_agg(json_build_array(f.next_at, f.waits_at,
      coalesce((select true from arrival a where a.flow = u.id limit 1), (select true from arrival a where a.key = p.key limit 1),
        (select true from arrival a where a.key = -p.key limit 1), (select true from arrival a where a.queue = p.queue limit 1), false),
      k.wake_at, q.paused) order by u.n)
    from unnest(flows) with ordinality as u(id, n)
    left join lateral (select f.* from flow f where f.id = u.id limit 1) f on true
    cross join lateral (select case when f.waits_at like 'key %' then substr(f.waits_at, 5)::int end as key,
                               case when f.waits_at like 'queue %' then substr(f.waits_at, 7)::int end as queue) p
    left join lateral (select k.wake_at from flow_key k where k.id = p.key limit 1) k on true
    left join lateral (select q.paused from queue q where q.id = p.queue limit 1) q on true);
end $$;






create or replace function "pawl".intern_flows(items json) returns json
language plpgsql set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off as $$
begin
  insert into flow_key as o (tenant, key, name, gate, since, rate_ms, per_ms, weight, text, rev)
  select distinct on (x.t, k.k collate "C") x.t, k.k, k.n, k.g, k.s, k.r, k.m, k.w, coalesce(k.x, ''), case when k.x is null then 0 else 1 end
  from json_to_recordset(items) as x(t text, ks json)
  cross join lateral json_to_recordset(x.ks) as k(k text, n text, g text, s bigint, r bigint, m bigint, w double precision, x text)
  where coalesce((select o.rev from flow_key o where o.tenant = x.t and o.key = k.k), 0) = 0 order by x.t, k.k collate "C"
  on conflict (tenant, key) do update set gate = excluded.gate, since = excluded.since, rate_ms = excluded.rate_ms, per_ms = excluded.per_ms,
    weight = excluded.weight, text = excluded.text, rev = excluded.rev, version = o.version + 1 where o.rev = 0 and excluded.rev > 0;
  insert into flow (hash, lane, priority, tenant, weigher, keys)
  select distinct on (x.h) x.h, x.l, x.p, x.t, x.w, array(
    select o.id from rows from (json_to_recordset(x.ks) as (k text)) with ordinality as k(k, n)
    cross join lateral (select o.id from flow_key o where o.tenant = x.t and o.key = k.k limit 1) o order by k.n)
  from json_to_recordset(items) as x(h text, l int, p int, t text, w text, ks json)
  where (select f.id from flow f where f.hash = x.h) is null order by x.h on conflict do nothing;
  update queue q set limited = true where not q.limited
    and q.id = any(array(select x.l / 10 from json_to_recordset(items) as x(l int)));
  return (select json_agg(json_build_array(f.id, f.keys) order by x.n)
          from rows from (json_to_recordset(items) as (h text)) with ordinality as x(h, n)
          cross join lateral (select f.* from flow f where f.hash = x.h limit 1) f);
end $$;



create or replace function "pawl".annotate(job_id bigint, generation_no int, attempt_no int, command_word text, at_ms bigint,
                              actor_name text, request_id text, correlation_id text, outcome_text text) returns text
language plpgsql set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off as $$
begin
  if not exists (select from job j where j.id = job_id) then return 'c'; end if;
  insert into annotation (job, generation, attempt, command, at, actor, request, correlation, outcome)
  values (job_id, generation_no, attempt_no, command_word, at_ms, actor_name, request_id, correlation_id, outcome_text)
  on conflict do nothing;
  return 'a';
end $$;



create or replace function "pawl".annotations(job_id bigint)
returns table (generation int, attempt int, command text, at bigint, actor text, request text, correlation text,
               outcome text)
language sql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off as $$
  select a.generation, a.attempt, a.command, a.at, a.actor, a.request, a.correlation, a.outcome
  from annotation a where a.job = job_id order by a.generation, a.attempt, a.at, a.command
$$;





create or replace function "pawl".compact(job_id bigint, at_rev int, row_count int, events_text text, doc_text text) returns text
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms' set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  last past;
  first past;
  n int;
begin
  select * into last from past p where p.job = job_id and p.rev = at_rev and p.state is not null for update;
  if not found then return 'c'; end if;
  
  
  select count(*) into n from past p where p.job = job_id;
  if n <> row_count or exists (select from past p where p.job = job_id and p.from_rev >= at_rev)
     or exists (select from ready y where y.id = job_id) or exists (select from lease l where l.id = job_id)
     or exists (select from rest s where s.id = job_id) then return 'c'; end if;
  select * into first from past p where p.job = job_id order by p.job, p.from_rev limit 1;
  update claim c set refs = c.refs - d.n from
    (select abs(p.claim) as id, count(*) as n from past p where p.job = job_id and p.claim is not null group by 1) d
  
  where c.id >= d.id and c.id <= d.id;
  delete from past p where p.job = job_id;
  delete from asked a where a.job = job_id;
  
  insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc)
  values (job_id, last.at, -9223372036854775807, first.from_step, last.to_step, last.rev, first.from_rev, last.state,
          last.plain, events_text, last.output, doc_text);
  return 'a';
end $$;



create or replace function "pawl".pause_sides(queue_hash text, is_paused boolean) returns void
language sql set search_path = "pawl", pg_temp as $$
  update queue s set paused = is_paused where s.main = (select q.id from queue q where q.hash = queue_hash)
$$;





create or replace function "pawl".purge(items json) returns table (now_ms bigint, removed json)
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms' set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare
  started bigint := clock();
  ids bigint[];
  freed bigint[];
begin
  ids := array(
    select p.job from (select * from json_to_recordset(items) as x(i bigint, r int) order by x.i) as x cross join lateral (
      select p.job from past p where p.job = x.i and p.rev = x.r and p.from_rev < x.r and p.state is not null
      order by p.job, p.from_rev desc limit 1 for update
    ) p);
  
  ids := array(
    select u.id from unnest(ids) as u(id) join json_to_recordset(items) as x(i bigint, r int) on x.i = u.id
    where (select p.rev from past p where p.job = u.id order by p.job, p.from_rev desc limit 1) = x.r
      and (select r.id from ready r where r.id = u.id) is null and (select l.id from lease l where l.id = u.id) is null
      and (select r.id from rest r where r.id = u.id) is null);
  if cardinality(ids) > 0 then
    perform leave_bundles(ids);
    with gone as (delete from past p where p.job = any(ids) returning p.claim),
    counted as (select abs(g.claim) as id, count(*)::int as n from gone g where g.claim is not null group by 1),
    left_over as (update claim c set refs = c.refs - d.n from counted d where c.id >= d.id and c.id <= d.id returning c.id, c.refs)
    select array_agg(o.id) into freed from left_over o where o.refs <= 0;
    delete from claim c where c.id = any(freed) and (select e.id from entry e where e.claim = c.id limit 1) is null;
    delete from body b where b.job = any(ids);
    delete from key k where k.job = any(ids);
    delete from annotation a where a.job = any(ids);
    delete from link l where l.job = any(ids);
    delete from asked a where a.job = any(ids);
    delete from mark m using job j where j.id = any(ids) and m.job = j.id and m.mark = any(j.marks);
    delete from job j where j.id = any(ids);
    insert into entry (at, jobs, revs, kinds, shapes)
    select started, array_agg(x.i order by x.n), '{0}', array_agg(x.k order by x.n), array_agg(x.z || '-' order by x.n)
    from rows from (json_to_recordset(items) as (i bigint, k int, z text)) with ordinality as x(i, k, z, n) where x.i = any(ids);
  end if;
  return query select started, array_to_json(ids);
end $$;






create or replace function "pawl".settings(operations json) returns table (now_ms bigint, answers json)
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '5s' set jit = off set enable_seqscan = off

set enable_bitmapscan = off as $$
declare
  started bigint := clock();
  x record;
  found_rows json;
  fine boolean;
  all_answers json[] := '{}';
begin
  for x in select * from json_to_recordset(operations) as x(o text, c text, k text, n text, t text, r bigint, a text, m int,
                                                            z boolean, h text, tn text, q text) loop
    fine := true;
    found_rows := null;
    if x.o = 'l' then
      select json_agg(json_build_array(s.key, s.name, s.text, s.rev, s.updated_at) order by s.key) into found_rows from
        (select * from setting s where s.collection = x.c and s.key > x.a order by s.key limit x.m) s;
    elsif x.o = 'p' then
      if x.r is null then
        insert into setting as s (collection, key, name, text, rev, updated_at) values (x.c, x.k, x.n, x.t, 1, started)
        on conflict (collection, key) do update set text = excluded.text, rev = s.rev + 1, updated_at = excluded.updated_at;
      elsif x.r = 0 then
        insert into setting (collection, key, name, text, rev, updated_at) values (x.c, x.k, x.n, x.t, 1, started)
        on conflict do nothing;
        fine := found;
      else
        update setting s set text = x.t, rev = s.rev + 1, updated_at = started
        where s.collection = x.c and s.key = x.k and s.rev = x.r;
        fine := found;
      end if;
      if fine and x.h is not null then
        insert into queue (hash, tenant, name, paused) values (x.h, x.tn, x.q, x.z)
        on conflict (hash) do update set paused = excluded.paused;
        perform pause_sides(x.h, x.z);
        perform flow_stir(x.h);
      end if;
    elsif x.o = 'r' then
      delete from setting s where s.collection = x.c and s.key = x.k and (x.r is null or s.rev = x.r);
      fine := found or not exists (select from setting s where s.collection = x.c and s.key = x.k) and coalesce(x.r, 0) = 0;
      if fine and x.h is not null then
        update queue set paused = false where hash = x.h;
        perform pause_sides(x.h, false);
        perform flow_stir(x.h);
      end if;
    end if;
    if x.o in ('g', 'p') or not fine then
      select json_agg(json_build_array(s.key, s.name, s.text, s.rev, s.updated_at)) into found_rows
      from setting s where s.collection = x.c and s.key = x.k;
    end if;
    all_answers := all_answers || json_build_array(fine, coalesce(found_rows, '[]'));
  end loop;
  return query select started, array_to_json(all_answers);
end $$;





create or replace function "pawl".summarize() returns void
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms' as $$
begin
  perform brin_summarize_new_values('job_created'), brin_summarize_new_values('past_at');
exception when lock_not_available then null;
end $$;





create or replace function "pawl".due(wanted int)
returns table (id bigint, created_at bigint, kind int, lane int, head text, place text, doc text, claim json,
               beats jsonb, log json, now_ms bigint)
language plpgsql rows 100 set search_path = "pawl", pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  started bigint := clock();
  ids bigint[] := '{}';
  handed_ids bigint[];
  c record;
begin
  for c in select k.id, k.jobs from claim k where k.tick <= started order by k.tick limit 200 for update skip locked loop
    exit when cardinality(ids) >= wanted;
    continue when not loosen_if_free(c.id);
    with handed as (
      select l.id from lease l where l.id = any(c.jobs) and abs(l.claim) = c.id
        and greatest(least(l.tick, l.expires_at), l.again) <= started
      order by l.id limit wanted - cardinality(ids) for update skip locked
    ), moved as (
      update lease l set again = started + 5000 from handed h
      
      where l.id >= h.id and l.id <= h.id returning l.id
    )
    select array_agg(m.id) into handed_ids from moved m;
    ids := ids || coalesce(handed_ids, '{}');
    update claim k set tick = (select min(greatest(least(l.tick, l.expires_at), l.again)) from lease l
                               where l.id = any(c.jobs) and abs(l.claim) = c.id) where k.id = c.id;
  end loop;
  with handed as (
    select r.id from ready r where r.tick <= started and (r.again is null or r.again <= started)
    order by r.tick limit greatest(wanted - cardinality(ids), 0) for update skip locked
  ), moved as (
    update ready r set again = started + 5000 from handed h where r.id >= h.id and r.id <= h.id returning r.id
  )
  select array_agg(m.id) into handed_ids from moved m;
  ids := ids || coalesce(handed_ids, '{}');
  with handed as (
    select r.id from rest r where r.tick <= started order by r.tick limit greatest(wanted - cardinality(ids), 0) for update skip locked
  ), moved as (
    update rest r set tick = started + 5000 from handed h where r.id >= h.id and r.id <= h.id returning r.id
  )
  select array_agg(m.id) into handed_ids from moved m;
  ids := ids || coalesce(handed_ids, '{}');
  return query select * from records(ids);
end $$;






create or replace function "pawl".heartbeat(items json) returns table (now_ms bigint, answers json)
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare started bigint := clock();
begin
  perform loosen(array(select x.i from json_to_recordset(items) as x(i bigint)), all_of_them => true);
  return query
  with x as materialized (
    select * from rows from (json_to_recordset(items) as (i bigint, f bigint, x text, q text)) with ordinality as x(i, f, x, q, n)
  ), held as materialized (
    select x.n, x.i, x.f, x.q from x cross join lateral (
      select l.claim from lease l where l.id = x.i and l.step >> 4 = x.f and l.expires_at > started limit 1
    ) l cross join lateral (select from claim c where c.id = abs(l.claim) and c.nonce = x.x limit 1) c
  ), mine as materialized (
    select o.n, o.q, l.id, l.rev, l.expires_at, l.beat, l.careful, k.window_ms,
           
           greatest(started, l.expires_at - k.window_ms, updated_at(l.doc)) as at,
           coalesce(l.beat ->> 'id' = o.q, false) as replayed
    from held o cross join lateral (
      select l.* from lease l where l.id = o.i and l.step >> 4 = o.f and l.expires_at > started limit 1 for update skip locked
    ) l cross join lateral (select j.kind from job j where j.id = l.id limit 1) j
    cross join lateral (select k.window_ms from kind k where k.id = j.kind limit 1) k
  ), renewed as (
    update lease l set rev = l.rev + 1, expires_at = m.at + m.window_ms,
      beat = jsonb_build_object('n', coalesce((m.beat ->> 'n')::int, 0) + 1, 'id', m.q, 'p', jsonb_build_array(jsonb_build_array(
        coalesce((m.beat -> 'p' -> 0 ->> 0)::int, 0) + 1, coalesce(m.beat -> 'p' -> 0 -> 1, to_jsonb(m.at)), m.at, m.q, m.at + m.window_ms)))
    
    from mine m where l.id >= m.id and l.id <= m.id and not m.replayed and m.careful is null
    returning l.id, l.rev, l.expires_at, l.beat
  )
  select started, json_agg(case
      when o.n is null then null
      when m.id is null then to_json(false)
      when m.careful then to_json(true)
      else json_build_array(coalesce(r.rev, m.rev), (coalesce(r.beat, m.beat) ->> 'n')::int, coalesce(r.expires_at, m.expires_at), m.replayed)
    end order by x.n)
  from x left join held o on o.n = x.n left join mine m on m.n = x.n left join renewed r on r.id = m.id;
end $$;



create or replace function "pawl".unjudged(wanted int)
returns table (id bigint, created_at bigint, kind int, lane int, head text, place text, doc text, claim json,
               beats jsonb, log json, now_ms bigint)
language plpgsql rows 100 set search_path = "pawl", pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  started bigint := clock();
  ids bigint[];
begin
  with handed as (
    select r.id from rest r where r.judge <= started order by r.judge limit wanted for update skip locked
  ), moved as (
    update rest r set judge = started + 5000 from handed h
    
    where r.id >= h.id and r.id <= h.id returning r.id
  )
  select array_agg(m.id) into ids from moved m;
  return query select * from records(coalesce(ids, '{}'));
end $$;



create or replace function "pawl".intern_kind(hash_text text, queue_id int, type_name text, window_length bigint, policy_text text)
returns int language plpgsql set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off as $$
begin
  insert into kind (hash, queue, type, window_ms, policy) values (hash_text, queue_id, type_name, window_length, policy_text)
  on conflict (hash) do nothing;
  return (select k.id from kind k where k.hash = hash_text);
end $$;






create or replace function "pawl".intern_queues(names json) returns json
language plpgsql set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off as $$
declare
  side record;
begin
  insert into queue (hash, tenant, name) select x.h, x.t, x.q from json_to_recordset(names) as x(h text, t text, q text, n text)
  where x.n is null and (select q.id from queue q where q.hash = x.h) is null on conflict do nothing;
  for side in select x.* from json_to_recordset(names) as x(h text, n text, m text)
              where x.n is not null and (select q.id from queue q where q.hash = x.h) is null order by x.m loop
    perform from queue q where q.hash = side.m for no key update;
    insert into queue (hash, tenant, name, paused, main, needs) select side.h, q.tenant, q.name, q.paused, q.id, side.n
    from queue q where q.hash = side.m on conflict do nothing;
  end loop;
  return (select json_agg(q.id order by x.n) from rows from (json_to_recordset(names) as (h text)) with ordinality as x(h, n)
          cross join lateral (select q.id from queue q where q.hash = x.h limit 1) q);
end $$;



create or replace function "pawl".kinds_by_id(ids int[])
returns table (id int, tenant text, queue text, queue_id int, type text, policy text)
language sql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select k.id, q.tenant, q.name, q.id, k.type, k.policy from kind k
  cross join lateral (select q.* from queue q where q.id = k.queue limit 1) q where k.id = any(ids)
$$;



create or replace function "pawl".limited_of(queues int[]) returns int[]
language sql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off as $$
  select array_agg(q.id) from unnest(queues) as a(main)
  
  
  cross join lateral (
    select q.id from queue q where coalesce(q.main, q.id) >= a.main and coalesce(q.main, q.id) <= a.main and q.limited
    order by coalesce(q.main, q.id)
  ) q
$$;



create or replace function "pawl".sides(queues int[], lasts int[]) returns table (id int, main int, needs text)
language sql stable rows 10 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select q.id, q.main, q.needs from unnest(queues, lasts) as a(main, last)
  cross join lateral (select s.* from queue s where s.main = a.main and s.id > a.last order by s.main, s.id) q
$$;



create or replace function "pawl".tenants() returns setof text language sql stable rows 10 set search_path = "pawl", pg_temp as $$
  with recursive t as (
    (select md5(q.tenant) as hash, q.tenant from queue q order by md5(q.tenant) limit 1)
    union all
    select n.* from t cross join lateral (
      select md5(q.tenant), q.tenant from queue q where md5(q.tenant) > t.hash order by md5(q.tenant) limit 1) n
  ) select t.tenant from t
$$;



create or replace function "pawl".aliases(items json) returns json
language sql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select json_agg(k.job order by x.n)
  from rows from (json_to_recordset(items) as (t text, p text, k text)) with ordinality as x(t, p, k, n)
  left join lateral (select k.job from key k where k.tenant = x.t and k.purpose = x.p and k.key = x.k limit 1) k on true
$$;



create or replace function "pawl".altered(ids bigint[]) returns setof bigint
language sql stable rows 1 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off as $$
  select j.id from job j where j.id = any(ids) and j.sum is distinct from sum_of(j.input)
$$;






create or replace function "pawl".bodies(items json) returns table (id bigint, name text, body text)
language plpgsql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  with x as materialized (
    select x.i, n.name, n.key from json_to_recordset(items) as x(i bigint, b json, k json),
      lateral rows from (json_array_elements_text(x.b), json_array_elements_text(x.k)) as n(name, key))
  select x.i, 'input', j.input from x cross join lateral
    (select j.input from job j where j.id = x.i and j.input is not null limit 1) j
    where x.name = 'input'
  union all
  select x.i, 'output', p.output from x cross join lateral
    (select p.output from past p where p.job = x.i and p.output is not null order by p.job, p.from_rev desc limit 1) p
    where x.name = 'output'
  union all
  select x.i, b.name, b.text from x cross join lateral
    (select coalesce(b.name, b.key) as name, b.text from body b where b.job = x.i and b.key = x.key limit 1) b
    where x.name not in ('input', 'output') and right(x.name, 1) <> '/'
  union all
  select x.i, b.name, b.text from x cross join lateral
    (select coalesce(b.name, b.key) as name, b.text from body b where b.job = x.i offset 0) b
    where right(x.name, 1) = '/' and starts_with(b.name, x.name);
end $$;




create or replace function "pawl".born_before(time_ms bigint) returns bigint
language plpgsql stable set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off as $$
declare
  lowest bigint := (select j.id - 1 from job j order by j.id limit 1);
  highest bigint := (select j.id from job j order by j.id desc limit 1);
  found_id bigint;
  found_at bigint;
begin
  while lowest < highest loop
    select j.id, j.created_at into found_id, found_at from job j where j.id > (lowest + highest) / 2 order by j.id limit 1;
    if found_at < time_ms then lowest := found_id; else highest := (lowest + highest) / 2; end if;
  end loop;
  return lowest;
end $$;






create or replace function "pawl".born_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language plpgsql stable rows 100 set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan as $$
begin
  if to_ms - from_ms > 1 then
    return query select j.id, j.created_at, 1 from job j where j.created_at >= from_ms and j.created_at < to_ms limit row_limit;
  else
    return query select j.id, j.created_at, 1 from job j where j.created_at = from_ms and j.id >= first_job order by j.id limit row_limit;
  end if;
end $$;




create or replace function "pawl".caused(items json)
returns table (job bigint, created_at bigint, kind int, lane int, head text, at bigint, from_rev int, rev int, rank bigint,
               before json, claim json, beats jsonb, events text, n int)
language plpgsql stable rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off
set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select s.*, x.n::int from rows from (json_to_recordset(items) as (i bigint, q text)) with ordinality as x(i, q, n)
  cross join lateral (
    select p.from_rev from past p where p.job = x.i and p.from_rev < 16
    union
    select a.from_rev from asked a where a.job = x.i and a.request in (request_mark(x.q), 0)
    union
    select l.from_rev from (
      select p.from_rev, p.state from past p where p.job = x.i order by p.job, p.from_rev desc limit 1
    ) l where l.state is not null
  ) a
  cross join lateral (select s.* from stretch s where s.job = x.i and s.from_rev = a.from_rev limit 1) s
  order by x.n, a.from_rev;
end $$;



create or replace function "pawl".claimed_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language sql stable rows 100 set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_bitmapscan = off as $$
  select c.job, c.at, case when p.rev is not null then p.rev when o.claim is not null then 0 end
  from (
    select c.id, c.at, u.job from claim c cross join lateral unnest(c.jobs) as u(job)
    where c.at >= from_ms and c.at < to_ms and (to_ms - from_ms > 1 or u.job >= first_job)
    order by c.at, case when to_ms - from_ms <= 1 then u.job end limit row_limit
  ) c
  left join lateral (select p.rev from past p where p.job = c.job and p.claim = c.id limit 1) p on true
  left join lateral (
    select o.claim from owned_of(c.job) o where p.rev is null and o.claim = c.id and not o.logged limit 1
  ) o on true
  order by c.at, c.job
$$;






create or replace view "pawl".stretch as
select p.job, j.created_at, j.kind, j.lane, j.head, p.at, p.from_rev, p.rev,
  case when p.claim > 0 then p.from_step & 15 end as rank,
  case when p.from_rev > 1 and p.events like '[0,%' then (
    select json_build_array(case when b.claim > 0 then "pawl".claim_words(b.claim) end, b.beats, b.events) from "pawl".past b
    where b.job = p.job and b.from_rev < p.from_rev order by b.job, b.from_rev desc limit 1
  ) end as before,
  case when p.claim > 0 then "pawl".claim_words(p.claim) end as claim, p.beats, p.events
from "pawl".past p join "pawl".job j on j.id = p.job;



create or replace function "pawl".commits_at(ids bigint[], revs int[]) returns setof "pawl".stretch
language sql stable rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select distinct on (l.job, l.from_rev) l.* from unnest(ids, revs) as u(id, rev) cross join lateral (
    select s.* from stretch s where s.job = u.id and s.from_rev < u.rev order by s.job, s.from_rev desc limit 1
  ) l where l.rev >= u.rev order by l.job, l.from_rev
$$;



create or replace function "pawl".committed_between(from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language plpgsql stable rows 100 set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_indexscan = off set plan_cache_mode = force_custom_plan as $$
begin
  if to_ms - from_ms > 1 then
    return query select p.job, p.at, p.rev from past p where p.at >= from_ms and p.at < to_ms limit row_limit;
  else
    return query select p.job, p.at, p.rev from past p where p.at = from_ms and p.job >= first_job order by p.job, p.rev limit row_limit;
  end if;
end $$;



create or replace function "pawl".correlated(marks text[], own bigint, first_job bigint, row_limit int) returns setof bigint
language sql stable rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select u.id from (
    select c.id from unnest(marks) as m(mark) cross join lateral (
      select j.id from job j where j.correlation = m.mark and j.id >= first_job order by j.correlation, j.id limit row_limit) c
    union select j.id from job j where j.id = own and j.id >= first_job
  ) as u(id) order by u.id limit row_limit
$$;



create or replace function "pawl".event_name(letter text) returns text language sql immutable as $$
  select case letter when 'e' then 'enqueued' when 'a' then 'admitted' when 'D' then 'denied' when 'c' then 'claimed' when 's' then 'started' when 'w' then 'waiting' when 'p' then 'parked' when 'g' then 'signalled' when 'o' then 'wait_timed_out' when 'r' then 'released' when 't' then 'retry_scheduled' when 'l' then 'stalled' when 'q' then 'requeued' when 'C' then 'cancelled' when 'S' then 'succeeded' when 'F' then 'failed' when 'T' then 'timed_out' when 'L' then 'dead_lettered' when 'u' then 'compensating' when 'R' then 'reopened' when 'h' then 'heartbeat' when 'P' then 'progressed' when 'k' then 'checkpointed' when 'd' then 'recorded' when 'G' then 'signal_stored' when 'x' then 'cancel_requested' when 'y' then 'rescheduled' when 'n' then 'replaced' when 'v' then 'approval_asked' when 'V' then 'approved' when 'U' then 'compensated' when 'Z' then 'stripped' when 'z' then 'compacted' end
$$;



create or replace view "pawl".events as
select j.id as job, 1 as rev, 0 as place, 'enqueued' as type, to_timestamp(j.created_at / 1000.0) as at from "pawl".job j
union all
select p.job, p.rev, 0, 'claimed', to_timestamp(c.at / 1000.0) from "pawl".past p join "pawl".claim c on c.id = p.claim
union all
select o.id, o.rev, 0, 'claimed', to_timestamp(c.at / 1000.0) from "pawl".owned o join "pawl".claim c on c.id = o.claim where not o.logged
union all
select p.job, p.rev, e.n::int - 1, "pawl".event_name(substr(ltrim(e.event::text), 3, 1)), to_timestamp(p.at / 1000.0)
from "pawl".past p cross join lateral json_array_elements(p.events::json) with ordinality as e(event, n) where e.n > 1;





create or replace function "pawl".find_ids(q json) returns table (id bigint, horizon boolean)
language plpgsql stable rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare
  x record;
  queue_ids int[];
  kind_ids int[];
  wanted text := 'true';
  walks text[];
  walk text;
  found_ids bigint[] := '{}';
  ids bigint[];
  looked int;
  last_id bigint;
  reached bigint;
begin
  select * into x from json_to_record(q) as x(tenant text, queues json, types json, states text, correlations text[], own bigint,
    marks text[], created_from bigint, created_to bigint, ended_before bigint, born_before bigint, newest boolean, after bigint,
    n int, w int);
  if x.tenant is not null or x.queues is not null or x.types is not null then
    queue_ids := case when x.tenant is null and x.queues is null then array(select u.id from queue u)
      when x.tenant is null then array(select u.id from json_array_elements_text(x.queues) as n(name) cross join lateral (
        select u.id from queue u where md5(u.name) = md5(n.name) and u.name = n.name offset 0) u)
      else array(select u.id from queue u where md5(u.tenant) = md5(x.tenant) and u.tenant = x.tenant
        and (x.queues is null or u.name in (select json_array_elements_text(x.queues)))) end;
    wanted := 'j.lane / 10 = any($1)';
  end if;
  if x.types is not null then
    kind_ids := array(select k.id from kind k
      where k.queue = any(queue_ids) and md5(k.type) = any(array(select md5(t) from json_array_elements_text(x.types) as t))
        and k.type in (select json_array_elements_text(x.types)));
    wanted := wanted || ' and j.kind = any($2)';
  end if;
  if cardinality(queue_ids) = 0 or cardinality(kind_ids) = 0 then return; end if;
  if x.created_from is not null then wanted := wanted || ' and j.created_at >= $3'; end if;
  if x.created_to is not null then wanted := wanted || ' and j.created_at < $4'; end if;
  walks := case
    when x.correlations is not null then array[
      walk_of_words('job', 'id', 'correlation', x.newest), walk_of('job', 'id', 's.id = $9', x.newest)]
    when x.marks is not null then array[walk_of_words('mark', 'job', 'mark', x.newest)]
    when x.states is null and x.ended_before is null then array[walk_of('job', 'id', 'true', x.newest)]
    else walks_in(coalesce(x.states, 'SFCTDL'), x.newest)
  end;
  foreach walk in array walks loop
    execute format('select coalesce(array_agg(s.id) filter (where s.wanted and %s), ''{}''), count(*)::int, %s(s.id) from (%s) as s%s',
        wanted, case when x.newest then 'min' else 'max' end, walk, case when wanted = 'true' then ''
          when walk like 'select s.id as id, s.lane,%' then ' cross join lateral (select s.lane, s.kind, s.created_at) j'
          else ' join job j on j.id = s.id' end)
      into ids, looked, last_id
      using queue_ids, kind_ids, x.created_from, x.created_to,
        coalesce(x.after, case when x.newest then 9223372036854775807 else 0 end),
        case when x.born_before is null then 9223372036854775807 else born_before(x.born_before) end,
        x.w, coalesce(x.correlations, x.marks), x.own, coalesce(x.states, 'SFCTDL'), x.ended_before;
    found_ids := found_ids || ids;
    if looked = x.w then
      reached := case when x.newest then greatest(reached, last_id) else least(reached, last_id) end;
      
      
      found_ids := found_ids || last_id;
    end if;
  end loop;
  return query select u.id, false from unnest(found_ids) as u(id)
    where reached is null or case when x.newest then u.id >= reached else u.id <= reached end
    group by u.id order by case when x.newest then -u.id else u.id end limit x.n;
  if reached is not null then return query select reached, true; end if;
end $$;




create or replace function "pawl".history(job_id bigint, after_rev int, row_limit int)
returns table (rev int, claim json, beats jsonb, events text)
language sql stable rows 10 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select p.rev, case when p.claim > 0 then claim_words(p.claim) end, p.beats, p.events
  from past p where p.job = job_id and p.from_rev >= after_rev order by p.job, p.from_rev limit row_limit
$$;




create or replace view "pawl".jobs as
select j.id, q.tenant, q.name as queue, k.type,
  case coalesce(substr(r.doc, 7, 1), case when r.id is not null then 'q' when not o.logged then 'c'
           when o.logged then substr(o.doc, 7, 1) when s.id is not null then coalesce(substr(s.doc, 7, 1), 'n') else p.state::text end)
    when 'n' then 'pending' when 'c' then 'claimed' when 'r' then 'running' when 'w' then 'waiting' when 'p' then 'parked' when 'l' then 'stalled' when 't' then 'retrying' when 'q' then 'queued' when 'S' then 'succeeded' when 'F' then 'failed' when 'C' then 'cancelled' when 'T' then 'timed_out' when 'D' then 'denied' when 'L' then 'dead_lettered' end as state,
  (coalesce(r.step, o.step, s.step, p.to_step, 0) >> 36)::int as generation,
  ((coalesce(r.step, o.step, s.step, p.to_step, 0) >> 4) & 4294967295)::bigint as attempt,
  coalesce(r.rev, o.rev, s.rev, p.rev, 1) as rev,
  coalesce((select f.priority from "pawl".flow f where f.id = -r.lane), coalesce(r.lane, j.lane) % 10) as priority,
  to_timestamp(j.created_at / 1000.0) as created_at,
  to_timestamp(coalesce(r.held_at, r.ready_at) / 1000.0) as ready_at,
  c.worker as worker, to_timestamp(o.expires_at / 1000.0) as lease_expires_at,
  to_timestamp(p.at / 1000.0) as ended_at,
  btrim((case when j.correlation is not null then coalesce(j.head::json -> 'c', j.head::json -> 'q') end)::text, '"') as correlation,
  j.input, p.output
from "pawl".job j
join "pawl".kind k on k.id = j.kind
join "pawl".queue q on q.id = k.queue
left join "pawl".ready r on r.id = j.id
left join "pawl".owned o on o.id = j.id
left join "pawl".claim c on c.id = o.claim
left join "pawl".rest s on s.id = j.id
left join lateral (
  select p.* from "pawl".past p where p.job = j.id and r.id is null and o.id is null and s.id is null
  order by p.job, p.from_rev desc limit 1
) p on true;



create or replace function "pawl".jobs_of(tenant_name text, ids bigint[]) returns setof bigint
language sql stable rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select j.id from unnest(ids) as u(id) join job j on j.id = u.id join queue q on q.id = j.lane / 10 where q.tenant = tenant_name
$$;




create or replace function "pawl".led_between(led text[], from_ms bigint, to_ms bigint, first_job bigint, row_limit int)
returns table (job bigint, at bigint, rev int) language sql stable rows 100 set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select p.job, p.at, p.rev from unnest(led) as s(led) cross join lateral (
    select p.job, p.at, p.rev from past p
    where not p.plain and coalesce(p.state, chr(48 + (p.to_step & 15)::int)::"char") = s.led::"char"
      and p.at >= from_ms and p.at < to_ms and (to_ms - from_ms > 1 or p.job >= first_job)
    order by p.at, p.job limit row_limit
  ) as p order by p.at, p.job limit row_limit
$$;



create or replace function "pawl".linked(marks text[], after_job bigint, after_rev int, row_limit int) returns table (job bigint, rev int)
language sql stable rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select l.job, l.rev from unnest(marks) as m(mark) cross join lateral (
    select l.job, l.rev from link l where l.correlation = m.mark and (l.job, l.rev) > (after_job, after_rev)
    order by l.correlation, l.job, l.rev limit row_limit
  ) l order by l.job, l.rev limit row_limit
$$;



create or replace function "pawl".log(job_id bigint, after_rev int, row_limit int) returns setof "pawl".stretch
language sql stable rows 10 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select s.* from stretch s where s.job = job_id and s.rev > after_rev and s.from_rev >= coalesce((
    select p.from_rev from past p where p.job = job_id and p.from_rev <= after_rev order by p.job, p.from_rev desc limit 1), 0)
  order by s.job, s.from_rev limit row_limit
$$;



create or replace function "pawl".logs(ids bigint[], row_limit int) returns setof "pawl".stretch
language sql stable rows 100 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off set enable_sort = off as $$
  select l.* from unnest(ids) with ordinality as u(id, n) cross join lateral (
    select s.* from stretch s where s.job = u.id order by s.job, s.from_rev limit row_limit
  ) l order by u.n, l.from_rev
$$;



create or replace function "pawl".long_ended(from_ms bigint, after_job bigint, to_ms bigint, row_limit int)
returns table (at bigint, job bigint) language sql stable rows 10 set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off as $$
  select p.at, p.job from past p where p.state is not null and p.rev >= 20 and (p.at, p.job) > (from_ms, after_job) and p.at < to_ms
  order by p.at, p.job limit row_limit
$$;




create or replace function "pawl".records(ids bigint[])
returns table (id bigint, created_at bigint, kind int, lane int, head text, place text, doc text, claim json,
               beats jsonb, log json, now_ms bigint)
language plpgsql volatile rows 100 set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select j.id, j.created_at, j.kind, j.lane, j.head,
    case when r.id is not null then 'r' when o.id is not null then 'l' when s.id is not null then 's' else 'p' end,
    coalesce(r.doc, o.doc, s.doc, p.doc),
    case when not o.logged then claim_words(o.claim) end,
    o.beat -> 'p',
    case when p.job is not null and p.doc is null then
      (select json_agg(json_build_array(h.claim, h.beats, h.events) order by h.rev) from history(j.id, 0, 1000) h) end,
    clock()
  from unnest(ids) with ordinality as u(id, n)
  
  cross join lateral (select j.* from job j where j.id = u.id limit 1) j
  left join lateral (select r.id, r.doc from ready r where r.id = u.id limit 1) r on true
  left join lateral (select s.id, s.doc from rest s where s.id = u.id limit 1) s on true
  left join lateral (select o.* from owned_of(u.id) o where r.id is null and s.id is null limit 1) o on true
  left join lateral (
    select p.job, p.doc from past p
    where p.job = u.id and r.id is null and o.id is null and s.id is null order by p.job, p.from_rev desc limit 1
  ) p on true
  order by u.n;
end $$;




create or replace function "pawl".walk_of(place text, id_column text, condition text, newest boolean) returns text
language sql immutable as $$
  select format('select s.%2$I as id, %3$s as wanted from %1$I s where %4$s and s.%2$I %5$s $5 and s.%2$I <= $6 order by s.%2$I %6$s limit $7',
    place, id_column, case place when 'job' then 's.lane, s.kind, s.created_at, true'
      when 'past' then 'strpos($10, s.state::text) > 0 and ($11 is null or s.at < $11)' else 'true' end,
    condition, case when newest then '<' else '>' end, case when newest then 'desc' else 'asc' end)
$$;



create or replace function "pawl".walk_of_words(place text, id_column text, word_column text, newest boolean) returns text
language sql immutable set search_path = "pawl", pg_temp as $$
  select format('select w.* from unnest($8::text[]) as u(word) cross join lateral (%s) as w order by w.id %s limit $7',
    walk_of(place, id_column, format('s.%I = u.word', word_column), newest), case when newest then 'desc' else 'asc' end)
$$;




create or replace function "pawl".walks_in(states text, newest boolean) returns text[]
language sql immutable set search_path = "pawl", pg_temp as $$
  select array_agg(walk_of(v.place, v.id_column, v.condition, newest)) from (
    
    select 'owned', 'id', case when states ~ 'c' then 'true' else 's.logged' end where states ~ '[cr]'
    union all select 'ready', 'id', 'true' where states ~ 'q'
    union all select 'past', 'job', 'true' where states ~ 'S'
    union all select 'ready', 'id', format('s.doc is not null and substr(s.doc, 7, 1) = %L', l)
      from regexp_split_to_table(states, '') as l where l ~ '[tl]' and states !~ 'q'
    union all select 'rest', 'id', format('coalesce(substr(s.doc, 7, 1), ''n'') = %L', l)
      from regexp_split_to_table(states, '') as l where l ~ '[nwpl]'
    union all select 'past', 'job', format('s.state <> ''S'' and s.state = %L', l)
      from regexp_split_to_table(states, '') as l where l ~ '[FCTDL]' and states !~ 'S'
  ) as v(place, id_column, condition)
$$;





create or replace function "pawl".add_asked(jobs bigint[], from_revs int[], requests json[], claims bigint[], beats jsonb[], ends int[])
returns void language plpgsql as $$
begin
  if 16 > all(from_revs) then return; end if;
  insert into "pawl".asked (job, request, from_rev)
  select u.job, "pawl".request_mark(q.words), u.from_rev
  from unnest(jobs, from_revs, requests, claims, beats) as u(job, from_rev, requests, claim, beat)
  cross join lateral (
    select json_array_elements_text(u.requests)
    union all select coalesce(c.request_words, c.request) from "pawl".claim c where u.claim > 0 and c.id = u.claim
    union all select run ->> 3 from jsonb_array_elements(u.beat -> 'p') as run
  ) as q(words)
  where u.from_rev >= 16
  union all select u.job, 0, u.end_rev from unnest(jobs, ends) as u(job, end_rev) where u.end_rev >= 16
  
  on conflict do nothing;
end $$;



create or replace function "pawl".add_bodies(jobs bigint[], lists json[]) returns void language plpgsql as $$
begin
  insert into "pawl".body (job, key, name, text)
  select u.job, y.k, y.n, y.t from unnest(jobs, lists) as u(job, list)
  cross join lateral json_to_recordset(u.list) as y(k text, n text, t text)
  on conflict (job, key) do update set text = excluded.text;
end $$;



create or replace function "pawl".add_links(jobs bigint[], lists json[]) returns void language plpgsql as $$
begin
  insert into "pawl".link (correlation, job, rev)
  select y.c, u.job, y.r from unnest(jobs, lists) as u(job, list) cross join lateral json_to_recordset(u.list) as y(c text, r int)
  on conflict do nothing;
end $$;



create or replace function "pawl".add_marks(items json, moved bigint[]) returns void language plpgsql as $$
declare
  each record;
begin
  
  for each in select x.i, array(select json_array_elements_text(x.mk)) as marks from json_to_recordset(items) as x(i bigint, mk json)
      where x.mk is not null and x.i = any(moved) loop
    insert into "pawl".mark (mark, job) select unnest(each.marks), each.i on conflict do nothing;
    update "pawl".job j set marks = coalesce(j.marks, '{}') || each.marks where j.id = each.i;
  end loop;
end $$;



create or replace function "pawl".beats_in(beat jsonb) returns int language sql immutable strict as
$$ select sum((run ->> 0)::int)::int from jsonb_array_elements(beat -> 'p') as run $$;



create or replace function "pawl".give_keys(jobs bigint[], tenants text[], lists json[]) returns void language plpgsql as $$
declare
  given record;
begin
  
  for given in select u.job, u.tenant, y.p as purpose, y.k as key from unnest(jobs, tenants, lists) as u(job, tenant, list)
      cross join lateral json_to_recordset(u.list) as y(p text, k text) loop
    delete from "pawl".key k where k.tenant = given.tenant and k.purpose = given.purpose and k.key = given.key and k.job = given.job;
  end loop;
end $$;




create or replace function "pawl".hold_ended(ids bigint[], revs int[]) returns bigint[] language plpgsql as $$
begin
  perform p.job from unnest(ids, revs) as u(id, rev) cross join lateral (
    select p.job from "pawl".past p where p.job = u.id and p.rev = u.rev and p.from_rev < u.rev
    order by p.job, p.from_rev desc limit 1 for update
  ) p;
  
  
  return array(
    select u.id from unnest(ids, revs) as u(id, rev)
    cross join lateral (select p.rev from "pawl".past p where p.job = u.id order by p.job, p.from_rev desc limit 1) p
    left join lateral (select r.id from "pawl".ready r where r.id = u.id limit 1) r on true
    left join lateral (select l.id from "pawl".lease l where l.id = u.id limit 1) l on true
    left join lateral (select s.id from "pawl".rest s where s.id = u.id limit 1) s on true
    where p.rev = u.rev and r.id is null and l.id is null and s.id is null);
end $$;



create or replace function "pawl".is_wrong(from_step bigint, to_step bigint, from_rev int, to_rev int, place text, is_claim boolean)
returns boolean language sql immutable as $$
  select to_rev <= from_rev or place not in ('r', 'l', 's', 'p') or (place = 'p') <> (to_step & 15 = 8)
    or to_step < from_step or case
      when to_step >> 36 = from_step >> 36 then
        (to_step >> 4) - (from_step >> 4) <> case when is_claim then 1 else 0 end
        or (from_step & 15 = 8 and to_step <> from_step)
      else from_step & 15 <> 8 or to_step >> 36 <> (from_step >> 36) + 1
        or (to_step >> 4) & 4294967295 <> (from_step >> 4) & 4294967295 end
$$;




create or replace function "pawl".let_go(ids bigint[],
  out jobs bigint[], out claims bigint[], out revs int[], out from_steps bigint[], out steps bigint[]) language plpgsql as $$
begin
  with gone as (
    delete from "pawl".lease l where l.id = any(ids) and l.beat is null returning l.id, l.claim, l.rev, l.from_step, l.step
  )
  select array_agg(g.id), array_agg(case when g.claim > 0 then g.claim end), array_agg(g.rev),
         array_agg(case when g.claim > 0 then coalesce(g.from_step, 7) else g.step end), array_agg(g.step)
    into jobs, claims, revs, from_steps, steps
  from (select * from gone order by id) as g;
end $$;



create or replace function "pawl".missed(items json, again boolean) returns json
language sql volatile set search_path = "pawl", pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
  select json_agg(case when again and p.rev = x.v and p.events = x.e then 'a' when l.rev = x.r then 'l' else 'c' end order by x.o)
  from rows from (json_to_recordset(items) as (i bigint, r int, v int, e text)) with ordinality as x(i, r, v, e, o)
  left join lateral (
    select p.rev, p.events from past p where p.job = x.i and p.from_rev < x.v order by p.job, p.from_rev desc limit 1
  ) p on true
  left join lateral (select l.rev from lease l where l.id = x.i limit 1) l on true
$$;











create or replace function "pawl".move(items json, again boolean, of_the_callers boolean default false)
returns table (now_ms bigint, verdicts json)
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms' set jit = off
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  given record;
  stayed record;
  moved record;
  apart int[];
  answers text[];
  keyed int;
begin
  if of_the_callers then perform set_config('lock_timeout', '5s', true); end if;
  select count(*)::int as n, array_agg(x.i) filter (where x.q = 'l' and x.r = 2) as maybe_bundled,
         array_agg(x.i order by x.i) filter (where x.q = 'p') as ended, array_agg(x.r order by x.i) filter (where x.q = 'p') as end_revs,
         array_agg(x.o::int order by x.i) filter (where x.kt is not null or x.sp is not null) as keyed,
         array_agg(x.i order by x.i) filter (where x.st) as stripping, bool_or(x.mk is not null) as marking,
         array_agg(x.o::int) filter (where x.q = 'l' and x.w = 'l' and num_nonnulls(x.g, x.c, x.kt, x.sp) = 0) as staying
    into given
  from rows from (json_to_recordset(items) as (i bigint, r int, q text, w text, g json, c json, kt json, sp json, st boolean, mk json))
    with ordinality as x(i, r, q, w, g, c, kt, sp, st, mk, o);
  if given.maybe_bundled is not null then perform loosen(given.maybe_bundled); end if;
  if given.ended is not null then given.ended := hold_ended(given.ended, given.end_revs); end if;

  select m.* into stayed from move_staying(items, started, given.staying) as m where given.staying is not null;
  given.keyed := coalesce(given.keyed, '{}');
  apart := given.staying || given.keyed;
  select m.* into moved from move_sets(items, started, given.ended, apart) as m where cardinality(apart) < given.n;
  if stayed.jobs is not null or moved.jobs is not null then
    insert into entry (at, jobs, revs, kinds, shapes)
    values (started, stayed.jobs || moved.jobs, stayed.revs || moved.revs, stayed.kinds || moved.kinds, stayed.shapes || moved.shapes);
  end if;
  if given.stripping is not null then perform strip(array(select unnest(given.stripping) intersect select unnest(moved.jobs))); end if;
  if given.marking then perform add_marks(items, moved.jobs); end if;
  answers := case when cardinality(stayed.places || moved.places) = given.n then array_fill('a'::text, array[given.n])
                  else unmoved(items, stayed.places || moved.places, started, again) end;
  foreach keyed in array given.keyed loop
    answers[keyed] := move_keyed(items -> keyed - 1, started, given.ended, again);
  end loop;
  return query select started, array_to_json(answers);
end $$;





create or replace function "pawl".move_keyed(item json, started bigint, ended bigint[], again boolean) returns text language plpgsql as $$
declare
  x record;
  k record;
  moved record;
  holder bigint;
  answer text;
  wanted text;
begin
  moved := "pawl".move_sets(json_build_array(item), started, ended, null);
  if moved.jobs is null then return ("pawl".unmoved(json_build_array(item), null, started, again))[1]; end if;
  select * into x from json_to_record(item) as x(i bigint, tn text, kt json, sp json);
  for k in select * from json_to_recordset(coalesce(x.kt, '[]')) as k(p text, k text, u bigint) loop
    holder := "pawl".take_key(x.tn, k.p, k.k, x.i, k.u, started, null);
    if holder is not null then raise exception using errcode = 'PW001', message = k.p || ':' || holder, detail = k.k; end if;
  end loop;
  if x.sp is not null then
    answer := "pawl".bear(x.sp, started, null);
    if answer is not null then raise exception using errcode = 'PW001', message = answer, detail = ''; end if;
    moved.jobs := moved.jobs || (x.sp ->> 'i')::bigint;
    moved.revs := moved.revs || 1;
    moved.kinds := moved.kinds || (x.sp ->> 'k')::int;
    moved.shapes := moved.shapes || (x.sp ->> 's');
  end if;
  insert into "pawl".entry (at, jobs, revs, kinds, shapes) values (started, moved.jobs, moved.revs, moved.kinds, moved.shapes);
  return 'a';
exception when sqlstate 'PW001' then
  get stacked diagnostics wanted = pg_exception_detail;
  return sqlerrm || ':' || wanted;
end $$;






create or replace function "pawl".move_sets(items json, started bigint, ended bigint[], but int[],
  out places int[], out jobs bigint[], out revs int[], out kinds int[], out shapes text[]) language plpgsql as $$
declare
  wrong text;
  from_revs int[]; requests json[]; by_claims bigint[]; beats jsonb[]; ends int[];
  claims bigint[]; ticks bigint[]; writing bigint[]; bodies json[]; linking bigint[]; links json[];
  giving bigint[]; givers text[]; keys json[];
begin
  with x as materialized (
    select x.*, case when x.c is not null then nextval('"pawl".claim_id_seq') end as granted
    from rows from (json_to_recordset(items) as (
      i bigint, r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text, q text, w text, f int,
      ra bigint, l int, t bigint, x bigint, bi text, bn int, k int, lw int, h text, tn text, g json, b json, u json, c json,
      rq json, ca boolean, jd bigint)) with ordinality
      as x(i, r, n, v, s, a, z, e, p, d, o, q, w, f, ra, l, t, x, bi, bn, k, lw, h, tn, g, b, u, c, rq, ca, jd, place)
    where (x.n is null or x.n > started) and (but is null or x.place <> all(but))
    order by x.i
  ), let_go as (
    
    delete from "pawl".lease l using x where x.q = 'l' and l.id >= x.i and l.id <= x.i and l.rev = x.r
    returning x.*, l.claim, l.step, l.from_step, l.beat, null::int as end_rev, null::int as lane, null::bigint as ready_at, null::bigint as held_at
  ), unqueued as (
    delete from "pawl".ready r using x where x.q = 'r' and r.id >= x.i and r.id <= x.i and coalesce(r.rev, 1) = x.r
    returning x.*, null::bigint, coalesce(r.step, 7), null::bigint, null::jsonb, null::int, r.lane, r.ready_at, r.held_at
  ), woken as (
    delete from "pawl".rest r using x where x.q = 's' and r.id >= x.i and r.id <= x.i and coalesce(r.rev, 1) = x.r
    returning x.*, null::bigint, coalesce(r.step, 0), null::bigint, null::jsonb, null::int, null::int, null::bigint, null::bigint
  ), was as materialized (
    select w.*, "pawl".is_wrong(w.step, w.s, w.r, w.v, w.w, w.c is not null) as is_wrong, coalesce(-w.granted, w.claim) as by,
           w.r - coalesce("pawl".beats_in(w.beat), 0) - case when w.granted is null and w.claim > 0 then 1 else 0 end as from_rev
    from (
      select * from let_go union all select * from unqueued union all select * from woken
      union all select x.*, null, p.to_step, null, null, p.from_rev, null, null, null from x cross join lateral (
        select p.to_step, p.from_rev from "pawl".past p where p.job = x.i and p.from_rev < x.r order by p.job, p.from_rev desc limit 1
      ) p where x.q = 'p' and x.i = any(ended)
    ) as w
  ), grants as (
    insert into "pawl".claim (id, request, worker, actor, nonce, at, tick, refs, jobs) overriding system value
    select w.granted, 'commit/' || w.i || '/' || w.v, c.w, c.a, c.n, c.t, least(w.t, w.x), 1, array[w.i]
    from was w cross join lateral json_to_record(w.c) as c(w text, a text, n text, t bigint) where w.granted is not null
  ), told as (
    insert into "pawl".past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
    select w.i, w.a, case when w.by > 0 or w.granted is not null then w.by end,
           case when w.by > 0 then coalesce(w.from_step, 7) else w.step end, w.s, w.v, w.from_rev,
           w.z, w.p is not null, w.e, w.o, case when w.w = 'p' then w.d end, w.beat -> 'p' from was w
  ), into_ready as (
    insert into "pawl".ready (id, ready_at, lane, held_at, window_ms, kind, rev, step, careful, tick, doc)
    select w.i, case when w.l is null then w.ready_at else w.ra end, coalesce(w.l, w.lane), case when w.l is null then w.held_at end, w.lw, w.k, w.v, w.s, w.ca, w.t, w.d from was w where w.w = 'r'
  ), into_rest as (
    insert into "pawl".rest (id, rev, step, tick, judge, doc) select w.i, w.v, w.s, w.t, w.jd, w.d from was w where w.w = 's'
  ), into_lease as (
    insert into "pawl".lease (id, claim, expires_at, rev, step, careful, tick, doc, beat)
    select w.i, -abs(w.by), w.x, w.v, w.s, w.ca, w.t, w.d,
           case when w.bn > 0 then jsonb_build_object('n', w.bn, 'id', w.bi, 'p', '[]'::jsonb) end from was w where w.w = 'l'
  )
  select array_agg(w.place), array_agg(w.i), array_agg(w.f), array_agg(w.k), array_agg(w.h),
         min(format('job %s may not move from step %s to %s', w.i, w.step, w.s)) filter (where w.is_wrong is not false),
         array_agg(w.from_rev), array_agg(w.rq), array_agg(case when w.w <> 'p' then w.by end),
         array_agg(case when w.w <> 'p' then w.beat end), array_agg(w.end_rev),
         array_agg(abs(w.by)) filter (where w.q = 'l' and w.w = 'l'), array_agg(least(w.t, w.x)) filter (where w.q = 'l' and w.w = 'l'),
         array_agg(w.i) filter (where w.b is not null), array_agg(w.b) filter (where w.b is not null),
         array_agg(w.i) filter (where w.u is not null), array_agg(w.u) filter (where w.u is not null),
         array_agg(w.i) filter (where w.g is not null), array_agg(w.tn) filter (where w.g is not null),
         array_agg(w.g) filter (where w.g is not null)
    into places, jobs, revs, kinds, shapes, wrong, from_revs, requests, by_claims, beats, ends, claims, ticks, writing, bodies,
         linking, links, giving, givers, keys
  from was w;
  if wrong is not null then raise exception using errcode = '23514', message = wrong; end if;
  if jobs is null then return; end if;
  perform "pawl".add_asked(jobs, from_revs, requests, by_claims, beats, ends);
  if claims is not null then perform "pawl".tick_earlier(claims, ticks); end if;
  if writing is not null then perform "pawl".add_bodies(writing, bodies); end if;
  if linking is not null then perform "pawl".add_links(linking, links); end if;
  if giving is not null then perform "pawl".give_keys(giving, givers, keys); end if;
end $$;






create or replace function "pawl".move_staying(items json, started bigint, staying int[],
  out places int[], out jobs bigint[], out revs int[], out kinds int[], out shapes text[]) language plpgsql as $$
declare
  wrong text;
  from_revs int[]; requests json[]; by_claims bigint[]; beats jsonb[]; ticks bigint[];
  writing bigint[]; bodies json[]; linking bigint[]; links json[];
begin
  with x as materialized (
    select x.* from rows from (json_to_recordset(items) as (i bigint, r int, n bigint, v int, s bigint, a bigint, e text, p int, d text,
      w text, f int, t bigint, x bigint, bi text, bn int, k int, h text, b json, u json, rq json, ca boolean)) with ordinality
      as x(i, r, n, v, s, a, e, p, d, w, f, t, x, bi, bn, k, h, b, u, rq, ca, place)
    where (x.n is null or x.n > started) and x.place = any(staying)
    order by x.i
  ), was as (
    
    update "pawl".lease l set claim = -abs(y.claim), expires_at = x.x, rev = x.v, step = x.s, careful = x.ca, tick = x.t, again = null,
      doc = x.d, beat = case when x.bn > 0 then jsonb_build_object('n', x.bn, 'id', x.bi, 'p', '[]'::jsonb) end
    from x, "pawl".lease y where l.id >= x.i and l.id <= x.i and l.rev = x.r and y.id >= x.i and y.id <= x.i
    returning x.place, x.i, x.a, x.s, x.v, x.e, x.p, x.f, x.k, x.h, x.b, x.u, x.rq, least(x.t, x.x) as tick, y.claim, y.step, y.beat,
      case when y.claim > 0 then coalesce(y.from_step, 7) else y.step end as from_step,
      x.r - coalesce("pawl".beats_in(y.beat), 0) - case when y.claim > 0 then 1 else 0 end as from_rev,
      "pawl".is_wrong(y.step, x.s, x.r, x.v, x.w, false) as is_wrong
  ), told as (
    insert into "pawl".past (job, at, claim, from_step, to_step, rev, from_rev, plain, events, beats)
    select w.i, w.a, case when w.claim > 0 then w.claim end, w.from_step, w.s, w.v, w.from_rev, w.p is not null, w.e, w.beat -> 'p' from was w
  )
  select array_agg(w.place), array_agg(w.i), array_agg(w.f), array_agg(w.k), array_agg(w.h),
         min(format('job %s may not move from step %s to %s', w.i, w.step, w.s)) filter (where w.is_wrong is not false),
         array_agg(w.from_rev), array_agg(w.rq), array_agg(w.claim), array_agg(w.beat), array_agg(w.tick),
         array_agg(w.i) filter (where w.b is not null), array_agg(w.b) filter (where w.b is not null),
         array_agg(w.i) filter (where w.u is not null), array_agg(w.u) filter (where w.u is not null)
    into places, jobs, revs, kinds, shapes, wrong, from_revs, requests, by_claims, beats, ticks, writing, bodies, linking, links
  from was w;
  if wrong is not null then raise exception using errcode = '23514', message = wrong; end if;
  if jobs is null then return; end if;
  perform "pawl".add_asked(jobs, from_revs, requests, by_claims, beats, null);
  perform "pawl".tick_earlier(array(select abs(unnest(by_claims))), ticks);
  if writing is not null then perform "pawl".add_bodies(writing, bodies); end if;
  if linking is not null then perform "pawl".add_links(linking, links); end if;
end $$;









create or replace function "pawl".put_back(jobs bigint[], claims bigint[], revs int[], lates bigint[], next_revs int[], steps bigint[],
                              times bigint[], words text[], docs text[], readies bigint[], lanes int[], windows int[], kinds int[],
                              first_revs int[], shapes text[], ticks bigint[], careful boolean[], body_keys text[], bodies text[])
returns table (now_ms bigint, is_done boolean, uncounted text)
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  was record;
  t1 bigint := times[1]; s1 bigint := steps[1]; v1 int := next_revs[1]; e1 text := words[1]; d1 text := docs[1];
  a1 bigint := readies[1]; l1 int := lanes[1]; w1 int := windows[1]; k1 int := kinds[1]; b1 text := body_keys[1];
  n1 bigint := case when cardinality(ticks) = 1 then ticks[1] end;
  c1 boolean := case when cardinality(careful) = 1 then careful[1] end;
  x1 text := case when cardinality(bodies) = 1 then bodies[1] end;
begin
  begin
    was := case when claims = '{}' then let_go(jobs) else let_go_bundled(jobs, claims) end;
    if jobs is distinct from was.jobs or started >= any(lates)
       or was.revs <> (case when cardinality(revs) = 1 then array_fill(revs[1], array[cardinality(jobs)]) else revs end) then
      raise exception using errcode = 'PW002';
    end if;
    perform from (select unnest(was.steps) as f, unnest(was.revs) as r, unnest(steps) as s, unnest(next_revs) as v) as x
    where is_wrong(x.f, coalesce(x.s, s1), x.r, coalesce(x.v, v1), 'r', false) is not false limit 1;
    if found then raise exception using errcode = '23514', message = 'a job may not move there'; end if;
    insert into past (job, at, claim, from_step, to_step, rev, from_rev, plain, events)
    select i, coalesce(t, t1), c, f, coalesce(s, s1), coalesce(v, v1), case when c is null then r else r - 1 end, false, coalesce(e, e1)
    from (select unnest(jobs) as i, unnest(times) as t, unnest(was.claims) as c, unnest(was.from_steps) as f, unnest(steps) as s,
                 unnest(next_revs) as v, unnest(was.revs) as r, unnest(words) as e) as x;
  exception when sqlstate 'PW002' or unique_violation then
    return query select started, false, null::text;
    return;
  end;
  insert into ready (id, ready_at, lane, window_ms, kind, rev, step, careful, tick, doc)
  select i, coalesce(a, a1), coalesce(l, l1), coalesce(w, w1), coalesce(k, k1), coalesce(v, v1), coalesce(s, s1), coalesce(c, c1),
         coalesce(n, n1), coalesce(d, d1)
  from (select unnest(jobs) as i, unnest(readies) as a, unnest(lanes) as l, unnest(windows) as w, unnest(kinds) as k,
               unnest(next_revs) as v, unnest(steps) as s, unnest(careful) as c, unnest(ticks) as n, unnest(docs) as d) as x;
  if bodies <> '{}' then
    insert into body (job, key, text) select i, coalesce(b, b1), coalesce(x, x1)
    from (select unnest(jobs) as i, unnest(body_keys) as b, unnest(bodies) as x) as x where coalesce(x, x1) is not null
    on conflict (job, key) do update set text = excluded.text;
  end if;
  insert into entry (at, jobs, revs, kinds, shapes) values (started, jobs, first_revs, kinds, shapes);
  return query select started, true, case when claims <> '{}' then count_ended(claims, array_fill(1, array[cardinality(jobs)]))::text end;
end $$;



create or replace function "pawl".request_mark(request text) returns bigint language sql immutable strict as
$$ select ('x' || left(md5(request), 16))::bit(64)::bigint $$;




create or replace function "pawl".settle_each(items json, started bigint) returns bigint[]
language plpgsql set search_path = "pawl", pg_temp set jit = off set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off as $$
declare done bigint[];
begin
  with x as materialized (
    select u.i, x.r, x.n, x.v, x.s, x.a, x.z, x.e, x.p, x.d, x.o from json_to_recordset(items)
      as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text),
      unnest(x.i) as u(i)
    order by u.i
  ), gone as (
    delete from lease l using x
    
    
    where l.id >= x.i and l.id <= x.i and l.rev = x.r and x.v > x.r and x.s & 15 = 8
      and l.step >> 4 = x.s >> 4
      and (x.n is null or x.n > started)
    returning l.claim, l.step, l.from_step, l.beat, x.i, x.s, x.v, x.r, x.a, x.z, x.p, x.e, x.o, x.d
  ), closed as (
    insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
    select g.i, g.a, case when g.claim > 0 then g.claim end,
           case when g.claim > 0 then coalesce(g.from_step, 7) else g.step end, g.s, g.v,
           case when g.claim > 0 then g.r - 1 else g.r end - coalesce(beats_in(g.beat), 0),
           g.z, g.p is not null, g.e, g.o, g.d, g.beat -> 'p'
    from gone g
  )
  select array_agg(g.i) into done from gone g;
  return coalesce(done, '{}');
end $$;






create or replace function "pawl".settle_leases(items json, jobs bigint[], revs int[], kinds int[], shapes text[], of_the_callers boolean default false)
returns table (now_ms bigint, missed json)
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan as $$
declare
  started bigint := clock();
  alike record;
  of_these int;
  ended int := 0;
  done bigint[];
  lost bigint[];
begin
  
  if of_the_callers then perform set_config('lock_timeout', '5s', true); end if;
  
  
  if octet_length(items::text) < 32 * cardinality(jobs) then
    
    begin
      for alike in select * from json_to_recordset(items)
          as x(i bigint[], r int, n bigint, v int, s bigint, a bigint, z "char", e text, p int, d text, o text) loop
        with gone as (
          delete from lease l
          where l.id = any(alike.i) and l.rev = alike.r and alike.v > alike.r and alike.s & 15 = 8
            and l.step >> 4 = alike.s >> 4 and (alike.n is null or alike.n > started)
          returning l.id, l.claim, l.step, l.from_step, l.beat
        )
        insert into past (job, at, claim, from_step, to_step, rev, from_rev, state, plain, events, output, doc, beats)
        select g.id, alike.a, case when g.claim > 0 then g.claim end,
               case when g.claim > 0 then coalesce(g.from_step, 7) else g.step end, alike.s, alike.v,
               case when g.claim > 0 then alike.r - 1 else alike.r end - coalesce(beats_in(g.beat), 0),
               alike.z, alike.p is not null, alike.e, alike.o, alike.d, g.beat -> 'p'
        from gone g;
        get diagnostics of_these = row_count;
        ended := ended + of_these;
      end loop;
      if ended < cardinality(jobs) then raise exception using errcode = 'PW002'; end if;
    exception when sqlstate 'PW002' or unique_violation then ended := 0;
    end;
  end if;
  if ended < cardinality(jobs) then
    done := settle_each(items, started);
    if cardinality(done) < cardinality(jobs) then
      perform loosen(array(select unnest(jobs) except select unnest(done)));
      done := done || settle_each(items, started);
    end if;
    if cardinality(done) < cardinality(jobs) then lost := array(select unnest(jobs) except select unnest(done)); end if;
  end if;
  insert into entry (at, jobs, revs, kinds, shapes, void) values (started, jobs, revs, kinds, shapes, lost);
  return query select started, array_to_json(lost);
end $$;



create or replace function "pawl".strip(ids bigint[]) returns void language plpgsql as $$
declare
  each bigint;
begin
  
  foreach each in array ids loop
    update "pawl".job j set input = null, sum = null where j.id = each;
    update "pawl".past p set output = null where p.job = each and p.output is not null;
    delete from "pawl".body b where b.job = each;
  end loop;
end $$;



create or replace function "pawl".tick_earlier(claims bigint[], ticks bigint[]) returns void language plpgsql as $$
begin
  update "pawl".claim c set tick = u.tick
  from (select u.id, min(u.tick) as tick from unnest(claims, ticks) as u(id, tick) group by u.id order by u.id) as u
  where c.id >= u.id and c.id <= u.id and (c.tick is null or c.tick > u.tick);
end $$;




create or replace function "pawl".unmoved(items json, places int[], started bigint, again boolean) returns text[] language sql volatile as $$
  select array_agg(case
      when x.o = any(places) then 'a'
      when again and p.rev = x.v and p.events = x.e then 'a'
      when x.n <= started and x.r = case x.q
        when 'l' then (select l.rev from "pawl".lease l where l.id = x.i)
        when 'r' then (select coalesce(r.rev, 1) from "pawl".ready r where r.id = x.i)
        when 's' then (select coalesce(r.rev, 1) from "pawl".rest r where r.id = x.i)
        else p.rev end then 'l'
      else 'c' end order by x.o)
  from rows from (json_to_recordset(items) as (i bigint, r int, n bigint, v int, e text, q text))
    with ordinality as x(i, r, n, v, e, q, o)
  left join lateral (
    select p.rev, p.events from "pawl".past p where p.job = x.i and p.from_rev < x.v order by p.job, p.from_rev desc limit 1
  ) p on true
$$;



create or replace function "pawl".updated_at(doc text) returns bigint language sql immutable strict as
$$ select substring(doc from '"u":([0-9]+)')::bigint $$;




create or replace function "pawl".answer(it "pawl".parked, given json) returns void language plpgsql as $$
declare
  payload text := json_build_array(it.request, given);
begin
  delete from "pawl".parked p where p.id = it.id;
  perform pg_notify(it.channel, case when octet_length(payload) < 8000 then payload else json_build_array(it.request)::text end);
end $$;



create or replace function "pawl".claim_park(request_id text, request_text text, worker_id text, actor_name text, nonce_text text,
  wanted_lanes int[], wanted_jobs int, bytes bigint, until_ms bigint, channel_name text) returns void language sql as $$
  insert into "pawl".parked (request, request_words, worker, actor, nonce, lanes, wanted, max_bytes, until, channel)
  values (request_id, request_text, worker_id, actor_name, nonce_text, wanted_lanes, wanted_jobs, bytes, until_ms, channel_name)
  
  on conflict (request) do update set nonce = excluded.nonce, until = excluded.until, channel = excluded.channel
$$;




create or replace function "pawl".hear(channel_name text) returns void
language plpgsql set search_path = "pawl", pg_temp as $$
begin
  execute format('listen %I', channel_name);
  perform pg_advisory_lock(hashtextextended(channel_name, 0)), pg_notify(channel_name, '');
end $$;



create or replace function "pawl".next_ready(lanes int[], after_ms bigint) returns bigint
language plpgsql volatile set search_path = "pawl", pg_temp
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return (
    select min(r.ready_at) from unnest(lanes) as a(lane)
    cross join lateral (
      select r.ready_at from ready r where r.lane = a.lane and r.ready_at > after_ms order by r.lane, r.ready_at limit 1
    ) r
  );
end $$;







create or replace function "pawl".offer(for_lane int, born bigint[], channel_name text, all_told text, rest_told text) returns boolean
language plpgsql set search_path = "pawl", pg_temp set lock_timeout = '100ms'
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
set plan_cache_mode = force_generic_plan as $$
declare
  it parked;
  given json;
  taken bigint[];
begin
  if cardinality(born) <= 16 then it := parked_for(for_lane, clock()); end if;
  if it.id is not null then
    
    select json_build_array(c.now_ms, c.claimed_at, c.nonce, c.bundle, c.is_repeat, c.is_parked, c.ids::text, c.times::text,
                            c.kinds::text, c.job_lanes::text, c.heads, c.inputs, c.docs, c.logged_attempts::text), c.ids
      into given, taken
    from claim(it.request, it.request_words, it.worker, it.actor, it.nonce, array[for_lane], '{0}',
               it.wanted, least(it.max_bytes, 6000)) as c;
    if taken is not null then
      perform answer(it, given);
      if taken @> born then
        if rest_told is not null then perform pg_notify(channel_name, rest_told); end if;
        return true;
      end if;
    end if;
  end if;
  perform pg_notify(channel_name, all_told);
  return false;
end $$;





create or replace function "pawl".parked_for(for_lane int, now_ms bigint) returns "pawl".parked language plpgsql as $$
declare
  it "pawl".parked;
begin
  select * into it from "pawl".parked p
  where p.id > (select n.last_value - 256 from "pawl".parked_number n) and p.until > now_ms and p.lanes @> array[for_lane]
    and not pg_try_advisory_xact_lock_shared(hashtextextended(p.channel, 0))
  order by p.id desc limit 1 for update skip locked;
  return it;
end $$;


insert into "pawl".migration (number, name, checksum, edition)
values (0, 'functions', '545f970b29d870ec4c4fe87f8dd20fa7609aa6f9f21d47d6aefe6503b93ff2a1', 4)
on conflict (number) do update set edition = excluded.edition, checksum = excluded.checksum, applied_at = clock_timestamp();
set local pawl_migration.role = '';






do $$
declare
  relations constant text[] := array['migration', 'seen', 'lead', 'queue', 'kind', 'job', 'mark', 'ready', 'lease', 'rest', 'past', 'asked', 'claim', 'parked_number', 'parked', 'entry', 'tally', 'feed', 'key', 'body', 'link', 'annotation', 'setting', 'flow_key', 'flow', 'slot', 'pace', 'spend', 'arrival', 'hunger', 'owned', 'stretch', 'events', 'jobs'];
  granted constant text[] := array['intern_flows', 'limited_of', 'claim_limited', 'is_contended', 'lanes_there', 'flow_told', 'next_ready', 'flow_look', 'flow_apply', 'flow_sweep', 'flow_settle', 'flow_move', 'flow_set', 'flow_views', 'flow_lobby', 'flow_watch', 'flow_mend', 'insert_plain', 'offer', 'insert_keyed', 'enqueue', 'enqueue_each', 'enqueue_together', 'claim', 'inputs', 'settle_leases', 'settle_bundles', 'missed', 'loosen', 'recount', 'move', 'put_back', 'intern_kind', 'intern_queues', 'kinds_by_id', 'sides', 'clock', 'server_ms', 'keep_time', 'kept_at', 'records', 'bodies', 'aliases', 'find_ids', 'long_ended', 'tenants', 'log', 'logs', 'altered', 'commits_at', 'caused', 'correlated', 'linked', 'born_between', 'claimed_between', 'led_between', 'committed_between', 'jobs_of', 'heartbeat', 'due', 'unjudged', 'place_entries', 'feed_page', 'feed_end', 'tallies', 'tallies_in', 'backlog', 'trim_feed', 'summarize', 'settings', 'annotate', 'annotations', 'compact', 'purge', 'hear', 'event_name'];
  views constant text[] := array['jobs', 'events'];
  inner_ones constant text[] := array['count_ended', 'leave_bundles', 'let_go_bundled', 'loosen_from', 'loosen_if_free', 'owned_of', 'settle_each_bundled', 'claim_answer', 'claim_answer_each', 'claim_replay', 'claim_stamp', 'claim_take', 'claim_take_limited', 'claim_words', 'bear', 'bear_all', 'bear_each', 'sum_of', 'take_key', 'wishes_of', 'flow_count', 'flow_due', 'flow_flows', 'flow_forget', 'flow_free', 'flow_keys', 'flow_left', 'flow_move_in', 'flow_move_some', 'flow_others', 'flow_stir', 'flow_take_back', 'flow_vacate', 'pause_sides', 'born_before', 'history', 'walk_of', 'walk_of_words', 'walks_in', 'add_asked', 'add_bodies', 'add_links', 'add_marks', 'beats_in', 'give_keys', 'hold_ended', 'is_wrong', 'let_go', 'move_keyed', 'move_sets', 'move_staying', 'request_mark', 'settle_each', 'strip', 'tick_earlier', 'unmoved', 'updated_at', 'answer', 'claim_park', 'parked_for'];
  home constant regnamespace := '"pawl"';
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

  
  
  app := coalesce(app, (
    select r.rolname from pg_proc p cross join lateral aclexplode(p.proacl) as a join pg_roles r on r.oid = a.grantee
    where p.pronamespace = home and p.proname = 'enqueue' and a.grantee <> p.proowner
    order by shobj_description(r.oid, 'pg_authid') = mark desc nulls last limit 1));
  if app is null then
    select format('%s_app_%s', n.nspname, current_database()) into app from pg_namespace n where n.oid = home;
    if octet_length(app) > 63 then app := 'app_' || md5(app); end if;
  end if;
  select shobj_description(r.oid, 'pg_authid') into marked from pg_roles r where r.rolname = app;
  if not found then
    
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
  foreach t in array views || array['migration', 'seen', 'lead'] loop
    execute format('grant select on %s.%I to %I', home, t, app);
  end loop;
  for f in select p.oid::regprocedure as name from pg_proc p where p.pronamespace = home and p.proname = any(granted) loop
    execute format('grant execute on function %s to %I', f.name, app);
  end loop;
end $$;

commit;
