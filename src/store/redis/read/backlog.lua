-- Since when so many lanes hold something at most, whichever they are.
local most = tonumber(ARGV[3])
local answer = { now_text, call('HGET', meta, 'purged') or '0' }
local key = base .. 'lanes'
local lanes = call('SCARD', key) > most and call('SRANDMEMBER', key, most) or call('SMEMBERS', key)
for _, lane in ipairs(lanes) do
  local first = call('ZRANGE', base .. lane, 0, 0, 'WITHSCORES')
  if first[1] then
    answer[#answer + 1] = lane
    answer[#answer + 1] = first[2]
  end
end
return answer
