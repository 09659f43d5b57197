-- After a script whose answer waits for the ledger: the head that it has left, which is its own entry's, or that it has seen.
local answer = whole()
if answer.err then
  return answer
end
local head = redis.call('HMGET', KEYS[1], 'logged', 'loggedAs')
return { answer, head[1] or '0', head[2] or '-' }
