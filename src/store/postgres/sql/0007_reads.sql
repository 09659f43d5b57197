-- Reads. None loads a body unless asked; all go by key.

-- Who claimed, as JSON: worker, actor, nonce, request, at.
create function pawl.claim_words(claim_id bigint) returns json language sql stable set search_path = pawl, pg_temp as
$$ select json_build_array(c.worker, c.actor, c.nonce, coalesce(c.request_words, c.request), c.at) from claim c where c.id = claim_id $$;

-- A job's history after a commit (0: all of it): for each commit its revision, its claim where that is not in the text, its
-- heartbeats, its events. Index: past's primary key.
create function pawl.history(job_id bigint, after_rev int, row_limit int)
returns table (rev int, claim json, beats jsonb, events text)
language sql stable rows 10 set search_path = pawl, pg_temp as $$
  select p.rev, case when p.claim > 0 then claim_words(p.claim) end, p.beats, p.events
  from past p where p.job = job_id and p.from_rev >= after_rev order by p.job, p.from_rev limit row_limit
$$;

-- Records, wherever they stand; the caller evolves what is written as a claim or a heartbeat on the lease. `log` is the
-- whole history where the last row of it has no record of its own.
create function pawl.records(ids bigint[])
returns table (id bigint, created_at bigint, kind int, lane int, head text, place text, doc text, claim json,
               beats jsonb, log json, now_ms bigint)
language plpgsql volatile rows 100 set search_path = pawl, pg_temp
set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select j.id, j.created_at, j.kind, j.lane, j.head,
    case when r.id is not null then 'r' when l.id is not null or b.id is not null then 'l'
         when s.id is not null then 's' else 'p' end,
    coalesce(r.doc, l.doc, s.doc, p.doc),
    case when l.claim > 0 or b.id is not null then claim_words(coalesce(b.id, l.claim)) end,
    l.beat -> 'p',
    case when p.job is not null and p.doc is null then
      (select json_agg(json_build_array(h.claim, h.beats, h.events) order by h.rev) from history(j.id, 0, 1000) h) end,
    clock()
  from unnest(ids) with ordinality as u(id, n)
  join job j on j.id = u.id
  left join ready r on r.id = u.id
  left join lease l on l.id = u.id
  left join rest s on s.id = u.id
  left join lateral (
    select p.job, p.doc from past p
    where p.job = u.id and r.id is null and l.id is null and s.id is null order by p.job, p.from_rev desc limit 1
  ) p on true
  left join lateral (
    select c.id from claim c
    where r.id is null and l.id is null and s.id is null and p.job is null
      and c.low <= u.id and c.high >= u.id and c.jobs @> array[u.id] limit 1
  ) b on true
  order by u.n;
end $$;

-- Inputs, outputs and other bodies by job and name; a name that ends in / stands for all that begin with it.
-- JSON keys: i id, b names, k their keys.
create function pawl.bodies(items json) returns table (id bigint, name text, body text)
language sql stable set search_path = pawl, pg_temp as $$
  with x as (select x.i, n.name, n.key from json_to_recordset(items) as x(i bigint, b json, k json),
             lateral rows from (json_array_elements_text(x.b), json_array_elements_text(x.k)) as n(name, key))
  select j.id, 'input', j.input from x join job j on j.id = x.i where x.name = 'input' and j.input is not null
  union all
  select x.i, 'output', p.output from x cross join lateral
    (select p.output from past p where p.job = x.i and p.output is not null order by p.job, p.from_rev desc limit 1) p
    where x.name = 'output'
  union all
  select b.job, coalesce(b.name, b.key), b.text from x join body b on b.job = x.i and b.key = x.key
    where x.name not in ('input', 'output') and right(x.name, 1) <> '/'
  union all
  select b.job, coalesce(b.name, b.key), b.text from x join body b on b.job = x.i
    where right(x.name, 1) = '/' and starts_with(coalesce(b.name, b.key), x.name)
$$;

-- Who holds keys. JSON keys: t tenant, p purpose (or `alias`), k key.
create function pawl.aliases(items json) returns json language sql stable set search_path = pawl, pg_temp as $$
  select json_agg(k.job order by x.n)
  from rows from (json_to_recordset(items) as (t text, p text, k text)) with ordinality as x(t, p, k, n)
  left join key k on k.tenant = x.t and k.purpose = x.p and k.key = x.k
$$;

-- Histories of several jobs, whole. Index: past's primary key.
create function pawl.histories(ids bigint[])
returns table (job bigint, rev int, claim json, beats jsonb, events text)
language sql stable rows 100 set search_path = pawl, pg_temp as $$
  select p.job, p.rev, case when p.claim > 0 then claim_words(p.claim) end, p.beats, p.events
  from past p where p.job = any(ids) order by p.job, p.from_rev
$$;

-- About the last job born before a time: numbers rise with time, but for those of blocks that lay idle. Twenty look-ups
-- instead of a walk over all that is over, when mostly nothing is old enough.
create function pawl.born_before(time_ms bigint) returns bigint
language plpgsql stable set search_path = pawl, pg_temp set enable_seqscan = off as $$
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

-- Jobs that are owned without a lease of their own.
create view pawl.bundled as
select u.id, c.id as claim, c.at from pawl.claim c cross join lateral unnest(c.jobs) as u(id)
where c.low is not null and (c.loose is null or u.id <> all(c.loose))
  and not exists (select from pawl.past p where p.job = u.id);

-- Candidates of a search, in order of their numbers: by where records of a state stand, narrowed by what is indexed. The
-- caller looks at each record again. Answers with up to `n` ids.
create function pawl.find_ids(q json) returns setof bigint
language plpgsql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
declare
  x record;
  kinds int[];
  filters text := '';
  direction text;
  beyond text;
  sources text[] := '{}';
begin
  select * into x from json_to_record(q) as x(tenant text, queues json, types json, states text, correlation text, own bigint,
    marks text[], created_from bigint, created_to bigint, ended_before bigint, born_before bigint, newest boolean, after bigint, n int);
  if x.tenant is not null or x.queues is not null or x.types is not null then
    kinds := array(select k.id from kind k join queue u on u.id = k.queue
      where (x.tenant is null or u.tenant = x.tenant)
        and (x.queues is null or u.name in (select json_array_elements_text(x.queues)))
        and (x.types is null or k.type in (select json_array_elements_text(x.types))));
    if cardinality(kinds) = 0 then return; end if;
    filters := filters || ' and j.kind = any($1)';
  end if;
  if x.correlation is not null then filters := filters || ' and (j.correlation = $2 or (j.correlation is null and j.id = $3))'; end if;
  if x.marks is not null then filters := filters || ' and j.marks @> $4'; end if;
  if x.created_from is not null then filters := filters || ' and j.created_at >= $5'; end if;
  if x.created_to is not null then filters := filters || ' and j.created_at < $6'; end if;
  direction := case when x.newest then 'desc' else 'asc' end;
  beyond := case when x.after is null then 'true' when x.newest then '%1$s < $7' else '%1$s > $7' end;
  if x.states is null and x.ended_before is null then
    sources := array['select j.id from job j where ' || format(beyond, 'j.id') || filters || ' order by j.id ' || direction];
  else
    if x.states is null then x.states := 'SFCTDL'; end if;
    if x.states ~ '[cr]' then sources := sources || source_of('lease', 'id', 'true', beyond, filters, direction); end if;
    if x.states ~ 'c' then sources := sources || source_of('bundled', 'id', 'true', beyond, filters, direction); end if;
    if x.states ~ 'q' then
      sources := sources || source_of('ready', 'id', 'true', beyond, filters, direction);
    elsif x.states ~ '[tl]' then
      sources := sources || source_of('ready', 'id', 's.doc is not null', beyond, filters, direction);
    end if;
    if x.states ~ '[nwpl]' then sources := sources || source_of('rest', 'id', 'true', beyond, filters, direction); end if;
    if x.states ~ '[SFCTDL]' then
      sources := sources || source_of('past', 'job',
        case when x.states ~ 'S' then 's.state is not null and strpos($8, s.state::text) > 0' else 's.state <> ''S'' and strpos($8, s.state::text) > 0' end
        || case when x.ended_before is null then '' else ' and s.at < $9' end
        || case when x.born_before is null then '' else ' and s.job <= $11' end, beyond, filters, direction);
    end if;
  end if;
  if cardinality(sources) = 0 then return; end if;
  return query execute 'select distinct u.id from (('
    || array_to_string(sources, ' limit $10) union all (') || ' limit $10)) as u(id) order by u.id ' || direction || ' limit $10'
    using kinds, x.correlation, x.own, x.marks, x.created_from, x.created_to, x.after, x.states, x.ended_before, x.n,
          case when x.born_before is not null then born_before(x.born_before) end;
end $$;

create function pawl.source_of(table_name text, id_column text, condition text, beyond text, filters text, direction text)
returns text language sql immutable as $$
  select format('select s.%1$I from %2$I s', id_column, table_name)
    || case when filters = '' then '' else format(' join job j on j.id = s.%I', id_column) end
    || ' where ' || condition || ' and ' || format(beyond, 's.' || id_column) || filters
    || format(' order by s.%I %s', id_column, direction)
$$;
