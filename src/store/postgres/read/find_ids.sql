-- Candidates of a search, in order of their numbers, from what is indexed; the caller looks at each record again. A place that
-- holds few of them is walked over `w` rows and no further: the last row of the answer then says how far, as `horizon`. JSON keys:
-- those of `wordsOf` (find.ts), and n candidates wanted, w rows looked at in each place.
-- Caller: `find.ts`. Index: of each place the one that knows what is looked for (`walks_in`). Locks: none.
create or replace function pawl.find_ids(q json) returns table (id bigint, horizon boolean)
language plpgsql stable rows 100 set search_path = pawl, pg_temp set jit = off set enable_seqscan = off
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
    wanted := 'j.lane / {{lane.width}} = any($1)';
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
    else walks_in(coalesce(x.states, '{{states.ended}}'), x.newest)
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
        x.w, coalesce(x.correlations, x.marks), x.own, coalesce(x.states, '{{states.ended}}'), x.ended_before;
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
