-- The ledger of a Redis: per partition an account, and the log that it accounts for. Times are epoch milliseconds.

-- All partitions there may ever be, from the beginning: none is made by a call. The row is updated with every append and has nothing that is
-- indexed besides its number, so there is room for many versions of it on its page.
create table pawl.part (
  p int primary key check (p between 0 and 15),
  epoch bigint not null default 0,
  seq bigint not null default 0,
  name text not null default '-',
  at bigint not null default 0,
  folded bigint not null default 0,
  kept_from bigint not null default 1,
  check (0 <= kept_from - 1 and kept_from - 1 <= folded and folded <= seq)
) with (fillfactor = 10);
insert into pawl.part (p) select generate_series(0, 15);

-- A row per append. `prev` is the name of the entry before the first; inside of a row each entry follows the one before it.
create table pawl.log (
  p int not null,
  first bigint not null,
  last bigint not null,
  epoch bigint not null,
  prev text not null,
  names text[] not null,
  ats bigint[] not null,
  texts text[] not null,
  primary key (p, last),
  check (first <= last and cardinality(names) = last - first + 1 and cardinality(ats) = cardinality(names)
         and cardinality(texts) = cardinality(names))
);
