-- The late words about a job.
local id = ARGV[3]
return { now_text, call('HGET', meta, 'purged') or '0', call('HVALS', base .. 'notes:' .. id), evicted_row(id) or {} }
