-- Ended jobs leave for the ledger, each if it is what its caller knows it to be, with all that is its own. What finds it stays: its
-- places among jobs of its kind and state, its keys and marks. One that is due some time, or waits to be judged, stays altogether. The
-- ledger keeps what leaves: that is what this command says in an entry, and `UNLINK` does not.
local leaving_keys, leaving_jobs = {}, {}
for i = 4, #ARGV, 2 do
  local id, rev = ARGV[i], ARGV[i + 1]
  local value = call('GET', base .. 'job:' .. id)
  local is_wanted = call('ZSCORE', base .. 'tick', id) or call('ZSCORE', base .. 'judge', id)
  if value and match(value, '^%S+') == rev and not is_wanted then
    leaving_jobs[#leaving_jobs + 1] = id
    for own in string.gmatch('@OWN_KEYS@', '%S+') do
      if call('EXISTS', base .. own .. id) == 1 then
        leaving_keys[#leaving_keys + 1] = base .. own .. id
      end
    end
  end
end
call('SCARD', base .. 'evicted')
if #leaving_jobs > 0 then
  -- A server whose memory is full refuses what needs more as the first thing a script writes, and this makes room.
  call('EVICT', unpack(leaving_keys))
  call('HSET', meta, 'evicted', text(call('HGET', meta, 'logged') + 1))
  call('SADD', base .. 'evicted', unpack(leaving_jobs))
end
return { now_text, text(#leaving_jobs) }
