-- Entries that the ledger has and this server has not, if its joiner still is the one who joins and the first goes on from its head. Each
-- is five words: number, name, the name before, time, and what it says.
local known = redis.call('HMGET', meta, 'joining', 'logged', 'loggedAs')
if known[1] ~= ARGV[1] or tonumber(known[2] or '0') ~= tonumber(ARGV[2]) - 1 or (known[3] or '-') ~= ARGV[4] then
  return 'no'
end
for i = 2, #ARGV, 5 do
  local number, name, prev, at, said = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  do_again(said)
  redis.call('HSET', meta, 'logged', number, 'loggedAs', name, 'at', at)
  redis.call('XADD', base .. 'entries', number .. '-0', 'n', name, 'p', prev, 'a', at, 't', said, 'b', '0')
end
return 'yes'
