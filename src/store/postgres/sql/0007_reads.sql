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

-- Who calls it: load, for whoever verifies. Jobs whose input is not what was written.
create function pawl.altered(ids bigint[]) returns setof bigint
language sql stable rows 1 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select j.id from job j where j.id = any(ids) and j.sum is distinct from sum_of(j.input)
$$;

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

-- About the last job born before a time: numbers rise with time, but for those of blocks that lay idle. Twenty look-ups
-- instead of a walk over all that is over, when mostly nothing is old enough.
create function pawl.born_before(time_ms bigint) returns bigint
language plpgsql stable set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
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

-- Candidates of a search, in order of their numbers, from what is indexed; the caller looks at each record again. A place
-- that holds few of them is walked over `w` rows and no further: the last row of the answer then says how far, as `horizon`.
-- JSON keys: those of `wordsOf` (find.ts), and n candidates wanted, w rows looked at in each place.
create function pawl.find_ids(q json) returns table (id bigint, horizon boolean)
language plpgsql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
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
    queue_ids := case when x.tenant is null then array(select u.id from queue u
        where x.queues is null or u.name in (select json_array_elements_text(x.queues)))
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
      -- A job may have many rows, and the walk may have ended among those of its last job before it came to the one that is
      -- wanted: nobody comes back to it, so the caller looks at its record.
      found_ids := found_ids || last_id;
    end if;
  end loop;
  return query select u.id, false from unnest(found_ids) as u(id)
    where reached is null or case when x.newest then u.id >= reached else u.id <= reached end
    group by u.id order by case when x.newest then -u.id else u.id end limit x.n;
  if reached is not null then return query select reached, true; end if;
end $$;

-- Numbers of jobs beyond $5 and up to $6, in their order, $7 of them; of what is over those in a state of $10, ended before $11.
create function pawl.walk_of(place text, id_column text, condition text, newest boolean) returns text
language sql immutable as $$
  select format('select s.%2$I as id, %3$s as wanted from %1$I s where %4$s and s.%2$I %5$s $5 and s.%2$I <= $6 order by s.%2$I %6$s limit $7',
    place, id_column, case place when 'job' then 's.lane, s.kind, s.created_at, true'
      when 'past' then 'strpos($10, s.state::text) > 0 and ($11 is null or s.at < $11)' else 'true' end,
    condition, case when newest then '<' else '>' end, case when newest then 'desc' else 'asc' end)
$$;

-- The same of all that have one of the words in $8.
create function pawl.walk_of_words(place text, id_column text, word_column text, newest boolean) returns text
language sql immutable set search_path = pawl, pg_temp as $$
  select format('select w.* from unnest($8::text[]) as u(word) cross join lateral (%s) as w order by w.id %s limit $7',
    walk_of(place, id_column, format('s.%I = u.word', word_column), newest), case when newest then 'desc' else 'asc' end)
$$;

-- Where records of these states stand: each place by the index that knows its states; successes, which are nearly all that
-- is over, among all that is over.
create function pawl.walks_in(states text, newest boolean) returns text[]
language sql immutable set search_path = pawl, pg_temp as $$
  select array_agg(walk_of(v.place, v.id_column, v.condition, newest)) from (
    select 'lease', 'id', 'true' where states ~ '[cr]'
    union all select 'bundled', 'id', 'true' where states ~ 'c'
    union all select 'ready', 'id', 'true' where states ~ 'q'
    union all select 'past', 'job', 'true' where states ~ 'S'
    union all select 'ready', 'id', format('s.doc is not null and substr(s.doc, 7, 1) = %L', l)
      from regexp_split_to_table(states, '') as l where l in ('t', 'l') and states !~ 'q'
    union all select 'rest', 'id', format('coalesce(substr(s.doc, 7, 1), ''n'') = %L', l)
      from regexp_split_to_table(states, '') as l where l in ('n', 'w', 'p', 'l')
    union all select 'past', 'job', format('s.state <> ''S'' and s.state = %L', l)
      from regexp_split_to_table(states, '') as l where l in ('F', 'C', 'T', 'D', 'L') and states !~ 'S'
  ) as v(place, id_column, condition)
$$;

-- Ends with a long log, by their time. Index: past_long.
create function pawl.long_ended(from_ms bigint, after_job bigint, to_ms bigint, row_limit int)
returns table (at bigint, job bigint) language sql stable rows 10 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off as $$
  select p.at, p.job from past p where p.state is not null and p.rev >= 20 and (p.at, p.job) > (from_ms, after_job) and p.at < to_ms
  order by p.at, p.job limit row_limit
$$;

-- Those that have queues. Index: queue_tenant, one look-up for each.
create function pawl.tenants() returns setof text language sql stable rows 10 set search_path = pawl, pg_temp as $$
  with recursive t as (
    (select md5(q.tenant) as hash, q.tenant from queue q order by md5(q.tenant) limit 1)
    union all
    select n.* from t cross join lateral (
      select md5(q.tenant), q.tenant from queue q where md5(q.tenant) > t.hash order by md5(q.tenant) limit 1) n
  ) select t.tenant from t
$$;
