-- Reads. None loads a body unless asked; all go by key.

-- Who claimed, as JSON: worker, actor, nonce, request, at.
create function pawl.claim_words(claim_id bigint) returns json language sql stable set search_path = pawl, pg_temp as
$$ select json_build_array(c.worker, c.actor, c.nonce, c.request, c.at) from claim c where c.id = claim_id $$;

-- A job's history after a revision: for each commit its revision, its claim where that is not in the text, its
-- heartbeats, its events. Index: past's primary key.
create function pawl.history(job_id bigint, after_rev int, row_limit int)
returns table (rev int, claim json, beats jsonb, events text)
language sql stable rows 10 set search_path = pawl, pg_temp as $$
  select p.rev, case when p.claim > 0 then claim_words(p.claim) end, p.beats, p.events
  from past p where p.job = job_id and p.rev > after_rev order by p.job, p.rev limit row_limit
$$;

-- Records, wherever they stand; the caller evolves what is written as a claim or a heartbeat on the lease. `log` is the
-- whole history where the last row of it has no record of its own.
create function pawl.records(ids bigint[])
returns table (id bigint, created_at bigint, kind int, lane int, head text, place text, doc text, claim json,
               beats jsonb, log json, now_ms bigint)
language plpgsql volatile rows 100 set search_path = pawl, pg_temp
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select j.id, j.created_at, j.kind, j.lane, j.head,
    case when r.id is not null then 'r' when l.id is not null then 'l' when s.id is not null then 's' else 'p' end,
    coalesce(r.doc, l.doc, s.doc, p.doc),
    case when l.claim > 0 then claim_words(l.claim) end,
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
    where p.job = u.id and r.id is null and l.id is null and s.id is null order by p.job, p.rev desc limit 1
  ) p on true
  order by u.n;
end $$;

-- Inputs, outputs and other bodies by job and name; a name that ends in / stands for all that begin with it.
-- JSON keys: i id, b names.
create function pawl.bodies(items json) returns table (id bigint, name text, body text)
language sql stable set search_path = pawl, pg_temp as $$
  with x as (select x.i, n.value as name from json_to_recordset(items) as x(i bigint, b json),
             lateral json_array_elements_text(x.b) as n(value))
  select j.id, 'input', j.input from x join job j on j.id = x.i where x.name = 'input' and j.input is not null
  union all
  select x.i, 'output', p.output from x cross join lateral
    (select p.output from past p where p.job = x.i and p.output is not null order by p.job, p.rev desc limit 1) p
    where x.name = 'output'
  union all
  select b.job, b.name, b.text from x join body b on b.job = x.i and b.name = x.name
    where x.name not in ('input', 'output') and right(x.name, 1) <> '/'
  union all
  select b.job, b.name, b.text from x join body b on b.job = x.i and starts_with(b.name, x.name) where right(x.name, 1) = '/'
$$;

-- Ids of aliases. JSON keys: t tenant, k alias.
create function pawl.aliases(items json) returns json language sql stable set search_path = pawl, pg_temp as $$
  select json_agg(k.job order by x.n)
  from rows from (json_to_recordset(items) as (t text, k text)) with ordinality as x(t, k, n)
  left join key k on k.tenant = x.t and k.purpose = 'alias' and k.key = x.k
$$;
