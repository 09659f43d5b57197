-- After a script whose writes go to a ledger: its entry. Nothing refuses it here: both keys were looked at before the first write, and a
-- server whose memory is full refuses a script at its first write or not at all.
local answer = script()
if #commands > 0 then
  local number = string.format('%.0f', logged + 1)
  local at = real('HGET', meta, 'at')
  local said = cjson.encode(commands)
  local bytes = string.format('%.0f', logged_bytes + #said)
  real('HSET', meta, 'logged', number, 'loggedAs', ARGV[3], 'loggedBytes', bytes)
  real('XADD', base .. 'entries', number .. '-0', 'n', ARGV[3], 'p', logged_as, 'a', at, 't', said, 'b', bytes)
end
return answer
