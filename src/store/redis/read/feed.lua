-- Entries of the log from a number on, so many at most, and the number of the last there is.
local answer = { now_text, call('HGET', meta, 'purged') or '0', text(seq) }
if ARGV[4] ~= '0' then
  for _, entry in ipairs(call('XRANGE', base .. 'log', ARGV[3] .. '-0', '+', 'COUNT', ARGV[4])) do
    answer[#answer + 1] = match(entry[1], '^%d+')
    answer[#answer + 1] = entry[2][8]
  end
end
return answer
