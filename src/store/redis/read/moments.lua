-- When, and in which entries of the log, there are events of some types. Each type from a time on, without so many of that time.
local to, most = ARGV[3], ARGV[4]
local answer = { now_text }
for i = 5, #ARGV, 3 do
  answer[#answer + 1] = call('ZRANGE', base .. 'type:' .. ARGV[i], ARGV[i + 1], to, 'BYSCORE', 'LIMIT', ARGV[i + 2], most)
end
return answer
