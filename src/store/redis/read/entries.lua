-- Entries of the log, by number.
local answer = { now_text }
for i = 3, #ARGV do
  local entry = call('XRANGE', base .. 'log', ARGV[i] .. '-0', ARGV[i] .. '-0')[1]
  answer[#answer + 1] = entry and entry[2][8] or ''
end
return answer
