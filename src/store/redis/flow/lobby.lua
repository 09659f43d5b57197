-- Whether jobs are held, each by its flow, how many other flows wait at its lane, and who will look at its own.

-- Empty: nobody.
local function watch_of(id, it)
  if call('ZSCORE', base .. 'arrivals', 'f' .. id) then
    return 'arrival'
  end
  if not it then
    return ''
  end
  if it.next_at ~= '-' then
    return call('ZSCORE', base .. 'nexts', id) and 'time ' .. it.next_at or ''
  end
  local sort, at = match(it.waits, '^(%S+) (.*)$')
  if not sort or not call('ZSCORE', base .. 'ring:' .. it.priority .. ' ' .. it.waits, it.number .. ' ' .. id) then
    return ''
  end
  if call('ZSCORE', base .. 'arrivals', sub(sort, 1, 1) .. at) then
    return 'arrival'
  end
  if sort == 'key' then
    return 'key ' .. at .. ' ' .. (call('ZSCORE', base .. 'wakes', at) or '-')
  end
  -- What is waited at besides is looked at by every round, as far as it is written down.
  if call('SISMEMBER', base .. 'waited', it.priority .. ' ' .. it.waits) == 0 then
    return ''
  end
  return sort == 'lane' and sort or 'queue ' .. call('SISMEMBER', base .. 'paused', at)
end

local answer = { now_text }
for i = 3, #ARGV, 4 do
  local id, flow, queue, lane = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local where = 'lane ' .. lane_key(queue, '+' .. lane)
  local waiting = call('ZCARD', base .. 'ring:' .. sub(lane, 1, 1) .. ' ' .. where)
  local it = flow_at(flow)
  local is_held = call('ZSCORE', base .. 'held:' .. flow, id)
  answer[#answer + 1] = is_held and '1' or '0'
  answer[#answer + 1] = text(it and it.waits == where and waiting - 1 or waiting)
  answer[#answer + 1] = is_held and watch_of(flow, it) or ''
end
return answer
