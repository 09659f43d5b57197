-- As `claim_answer`, of jobs that have leases, or of more inputs than may ride along: in their order, each with the record its lease
-- has, and with its input as long as there is room.
-- Caller: `claim`, `claim_limited`, `claim_replay`. Index: job's and lease's primary keys. Locks: none.
create or replace function pawl.claim_answer_each(job_ids bigint[], max_bytes bigint, separator text)
returns table (ids bigint[], times bigint[], kinds int[], lanes int[], heads text, inputs text, docs text) language sql stable as $$
  select array_agg(x.id), array_agg(x.created_at), array_agg(x.kind), array_agg(x.lane), string_agg(coalesce(x.head, E'\x01'), separator),
         string_agg(coalesce(x.input, E'\x01'), separator), string_agg(coalesce(x.doc, E'\x01'), separator)
  from (
    select j.id, j.created_at, j.kind, j.lane, j.head, l.doc,
           case when sum(coalesce(octet_length(j.input), 0)) over (order by u.n) <= max_bytes then j.input end as input
    from unnest(job_ids) with ordinality as u(id, n)
    -- One index look-up per row: joined, a plan made while the table was empty walked the whole index for each of them
    -- (250 to 800 ms for a claim of 500 beside 4,000 jobs).
    cross join lateral (select j.* from pawl.job j where j.id = u.id limit 1) j
    left join lateral (select l.doc from pawl.lease l where l.id = u.id limit 1) l on true
    order by u.n
  ) as x
$$;
