-- Whether jobs are held, each by its flow, and how many other flows wait at its lane.
local answer = { now_text }
for i = 3, #ARGV, 4 do
  local id, flow, queue, lane = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local where = 'lane ' .. lane_key(queue, '+' .. lane)
  local waiting = call('ZCARD', base .. 'ring:' .. sub(lane, 1, 1) .. ' ' .. where)
  local own = sub(call('GET', base .. 'flow:' .. flow) or '', -#where - 1) == '\n' .. where
  answer[#answer + 1] = call('ZSCORE', base .. 'held:' .. flow, id) and '1' or '0'
  answer[#answer + 1] = text(own and waiting - 1 or waiting)
end
return answer
