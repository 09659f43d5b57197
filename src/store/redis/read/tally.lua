-- How many jobs of each kind are in each state, as of the last entry.
return { now_text, call('HGET', meta, 'purged') or '0', text(seq), call('HGETALL', base .. 'tally') }
