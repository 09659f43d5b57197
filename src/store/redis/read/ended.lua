-- Ended jobs with a long log, by when they ended: between two times, so many at most.
local answer = { now_text }
for _, each in ipairs(call('ZRANGE', base .. 'long', ARGV[3], ARGV[4], 'BYSCORE', 'LIMIT', ARGV[5], ARGV[6], 'WITHSCORES')) do
  answer[#answer + 1] = each
end
return answer
