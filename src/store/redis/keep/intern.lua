-- Gives kinds their numbers, once each.
local name = ARGV[3]
local answer = { now_text }
local next_number = tonumber(call('HLEN', base .. 'kinds'))
for i = 4, #ARGV do
  local number = call('HGET', base .. 'kind-numbers', ARGV[i])
  if not number then
    next_number = next_number + 1
    number = text(next_number)
    added(fields, base .. 'kinds', number, ARGV[i])
    added(fields, base .. 'kind-numbers', ARGV[i], number)
  end
  answer[#answer + 1] = number
end
if next(fields) then
  write(name)
end
return answer
