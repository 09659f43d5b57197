-- Documents of a collection in the order of their keys, behind one of them, so many at most.
local answer = { now_text }
local keys = call('ZRANGE', base .. 'names:' .. ARGV[3], '(' .. ARGV[4], '+', 'BYLEX', 'LIMIT', 0, ARGV[5])
for _, key in ipairs(keys) do
  answer[#answer + 1] = key
  answer[#answer + 1] = call('HGET', base .. 'set:' .. ARGV[3], key)
end
return answer
