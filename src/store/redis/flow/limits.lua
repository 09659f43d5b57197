-- Keys by their numbers, with what is taken of them. One of which nobody has said anything is none.
local recount = ARGV[3] == '1'
local answer = { now_text, call('HGET', meta, 'purged') or '0' }

-- Jobs held by flows that wait at a key, counted so far.
local function held_at(key)
  local held = 0
  for n, since in ipairs(hungry_at('key ' .. key)) do
    if since then
      for _, member in ipairs(call('ZRANGE', base .. 'ring:' .. n - 1 .. ' key ' .. key, '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, @HELD_SHOWN@)) do
        held = held + call('ZCARD', base .. 'held:' .. match(member, ' (.*)$'))
        if held >= @HELD_SHOWN@ then
          return @HELD_SHOWN@
        end
      end
    end
  end
  return held
end

-- From where the jobs are: in a lane, or owned.
local function counted_anew(key)
  local found = 0
  local from, ids = 0, nil
  repeat
    ids = call('ZRANGE', base .. 'slots:' .. key, '-inf', '+inf', 'BYSCORE', 'LIMIT', from, @LOOKED_AT@)
    from = from + #ids
    for _, id in ipairs(ids) do
      local flow, keys, queue, lane = match(call('GET', base .. 'spot:' .. id) or '', '^%S+ %S+ %S+ (%S+) %S+([^\n]*)\n([^\n]*)\n(.*)$')
      local stands = flow and call('ZSCORE', base .. lane_key(queue, '+' .. lane), id)
      local job = call('GET', base .. 'job:' .. id)
      local is_owned = job and not find(job, '^[^\n]*\n[^\n]*\n\n')
      if flow and find(keys .. ' ', ' ' .. key .. ' ', 1, true) and (stands or is_owned) then
        found = found + 1
      end
    end
  until #ids < @LOOKED_AT@
  return found
end

local function probes_of(key, since)
  local found = {}
  if since == '0' then
    return found
  end
  for _, id in ipairs(call('ZRANGE', base .. 'slots:' .. key, since, '+inf', 'BYSCORE', 'LIMIT', 0, @PROBES_SHOWN@)) do
    found[#found + 1] = id
    found[#found + 1] = call('ZSCORE', base .. 'slots:' .. key, id)
    found[#found + 1] = call('ZSCORE', base .. 'claims:' .. key, id) or '-'
  end
  return found
end

local function view(key)
  local rev, of, gate, text_of, log, since, rate_ms, spent, window =
    unpack(call('HMGET', base .. 'limit:' .. key, 'rev', 'name', 'gate', 'text', 'log', 'since', 'rateMs', 'spent', 'window'))
  if not rev or rev == '0' then
    return
  end
  answer[#answer + 1] = {
    of, rev, gate, text_of, log and '=' .. log or '-', count_of(key, since, tonumber(rate_ms)), spent or '0', window or '0', spends_of(key),
    probes_of(key, since), text(held_at(key)), recount and text(counted_anew(key)) or '-',
  }
end

for i = 4, #ARGV do
  view(ARGV[i])
end
return answer
