-- Ended jobs leave the server once they are folded: here they stay, and who would have them leave asks for those that have not.
alter table pawl.job add column evicted boolean not null default false;
create index job_ended on pawl.job (p, ended_at) where ended_at is not null and not evicted;
