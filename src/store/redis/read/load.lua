-- Jobs by id or key, each with what is asked for besides: bodies, the stretches of its log in which a request is told of, its log.
-- An item: its id or the key that it holds, how many bodies and their names, a request's mark or `-`, how long its log may be or `-`.
local answer = { now_text }

local function bodies_of(id, i, count)
  local found = {}
  local key = base .. 'body:' .. id
  for n = i, i + count - 1 do
    local name = ARGV[n]
    if sub(name, -1) == '/' then
      for _, each in ipairs(call('HKEYS', key)) do
        if sub(each, 1, #name) == name then
          found[#found + 1] = each
          found[#found + 1] = call('HGET', key, each)
        end
      end
    else
      local body = call('HGET', key, name)
      if body then
        found[#found + 1] = name
        found[#found + 1] = body
      end
    end
  end
  return found
end

local function stretches_asked(id, request)
  local found = {}
  for _, mark in ipairs({ '@ANY_REQUEST@', request }) do
    for _, member in ipairs(call('ZRANGE', base .. 'asked:' .. id, '[' .. mark .. ':', '(' .. mark .. ';', 'BYLEX')) do
      local rev = match(member, ':(%d+)$')
      local entry = call('XRANGE', base .. 'past:' .. id, rev .. '-0', rev .. '-0')[1]
      if entry then
        found[#found + 1] = rev
        found[#found + 1] = entry[2][2]
      end
    end
  end
  return found
end

local function log_of(id, most)
  local found = {}
  for _, entry in ipairs(call('XRANGE', base .. 'past:' .. id, '-', '+', 'COUNT', most + 1)) do
    found[#found + 1] = match(entry[1], '^%d+')
    found[#found + 1] = entry[2][2]
  end
  return found
end

local i = 3
while i <= #ARGV do
  local id, count = ARGV[i], tonumber(ARGV[i + 1])
  if sub(id, 1, 1) == 'k' then
    id = match(call('GET', base .. 'key:' .. sub(id, 2)) or '', '^(%S+)') or ''
  end
  local value = id ~= '' and call('GET', base .. 'job:' .. id)
  local request, most = ARGV[i + 2 + count], ARGV[i + 3 + count]
  if value then
    answer[#answer + 1] = {
      id,
      value,
      call('GET', base .. 'born:' .. id),
      bodies_of(id, i + 2, count),
      request ~= '-' and stretches_asked(id, request) or {},
      most ~= '-' and log_of(id, tonumber(most)) or {},
    }
  else
    answer[#answer + 1] = id ~= '' and evicted_row(id) or false
  end
  i = i + 4 + count
end
return answer
