-- Ids from sorted sets, of each so many at most between two: of newest first from the upper end.
local newest, low, high, most = ARGV[3] == '1', ARGV[4], ARGV[5], ARGV[6]
local answer = { now_text }
for i = 7, #ARGV do
  local key = base .. ARGV[i]
  if newest then
    answer[#answer + 1] = call('ZRANGE', key, high, low, 'BYLEX', 'REV', 'LIMIT', 0, most)
  else
    answer[#answer + 1] = call('ZRANGE', key, low, high, 'BYLEX', 'LIMIT', 0, most)
  end
end
return answer
