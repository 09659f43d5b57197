-- Kinds by number; without numbers, of how many there are.
local answer = { now_text, call('HLEN', base .. 'kinds') }
for i = 3, #ARGV do
  answer[#answer + 1] = call('HGET', base .. 'kinds', ARGV[i])
end
return answer
