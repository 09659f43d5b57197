-- A job, and stretches of its log that reach beyond a revision, so many at most. Items: id, revision, how many.
local answer = { now_text, call('HGET', meta, 'purged') or '0' }
for i = 3, #ARGV, 3 do
  local id = ARGV[i]
  local value = call('GET', base .. 'job:' .. id)
  if value then
    local stretches = {}
    for _, entry in ipairs(call('XRANGE', base .. 'past:' .. id, '(' .. ARGV[i + 1] .. '-0', '+', 'COUNT', ARGV[i + 2])) do
      stretches[#stretches + 1] = match(entry[1], '^%d+')
      stretches[#stretches + 1] = entry[2][2]
    end
    answer[#answer + 1] = { id, value, call('GET', base .. 'born:' .. id), stretches }
  else
    answer[#answer + 1] = evicted_row(id) or false
  end
end
return answer
