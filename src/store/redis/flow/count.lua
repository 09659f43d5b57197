-- What is taken of a key, as core counts it (`countOf` of core/flow/slots.ts): slots; those let in at or after the gate's `since`; for a
-- rate, what nobody has claimed yet and what was claimed within the window, with the oldest of those claims. What the gate does not ask for
-- is not counted.
local function first_after(key, from)
  local first = call('ZRANGE', key, from, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  return tonumber(first[2])
end

local function count_of(key, since, rate_ms)
  local slots, claims, paces = base .. 'slots:' .. key, base .. 'claims:' .. key, base .. 'paces:' .. key
  local taken = call('ZCARD', slots)
  local taken_since = since == '0' and taken or call('ZCOUNT', slots, since, '+inf')
  if rate_ms == 0 then
    return { text(taken), text(taken_since), '0', '-' }
  end
  -- Half open: a claim at `now - rate_ms` is out.
  local from = '(' .. text(now - rate_ms)
  local started = call('ZCOUNT', claims, from, '+inf') + call('ZCOUNT', paces, from, '+inf') + call('ZCARD', base .. 'standing:' .. key)
  local owned, freed = first_after(claims, from), first_after(paces, from)
  local oldest = owned and freed and math.min(owned, freed) or owned or freed
  return { text(taken), text(taken_since), text(started), oldest and text(oldest) or '-' }
end

-- What was spent and is not summed up yet, each with its time.
local function spends_of(key)
  return call('ZRANGE', base .. 'spends:' .. key, '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, @LOOKED_AT@, 'WITHSCORES')
end

-- The flows of each priority that wait at a place: since when nobody of them was let in; nothing where nobody waits.
local function hungry_at(place_of)
  local names = {}
  for priority = 0, @PRIORITIES@ - 1 do
    names[#names + 1] = priority .. ' ' .. place_of
  end
  return call('HMGET', base .. 'hungry', unpack(names))
end
