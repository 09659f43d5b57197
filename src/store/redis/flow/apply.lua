-- Applies what core made of a look: jobs that are let in, each with a slot of every key it has, or taken back; flows as they are now. All of it
-- if the keys and flows are at the versions they were seen at, the queues as they were, the lanes no fuller, and the jobs where they were;
-- else nothing. That is what keeps two rounds from giving one slot twice. Slots that were freed since the look make room for more, and what
-- was claimed since is counted either way: a count that was right then is not too low now.
local name, at_arg = ARGV[3], 4

local function next_word()
  at_arg = at_arg + 1
  return ARGV[at_arg - 1]
end

local function rows(width)
  local found = {}
  for n = 1, tonumber(next_word()) do
    found[n] = {}
    for i = 1, width do
      found[n][i] = next_word()
    end
  end
  return found
end

local arrivals, keys, spends, moved, queues, lanes, let_in, back, fed, again =
  rows(2), rows(5), rows(2), rows(5), rows(2), rows(3), rows(3), rows(2), rows(1), rows(1)

local function is_as_seen()
  for _, it in ipairs(keys) do
    if limit_at(it[1]).version ~= it[2] then
      return false
    end
  end
  for _, it in ipairs(moved) do
    if not flow_at(it[1]) or flow_at(it[1]).version ~= it[2] then
      return false
    end
  end
  for _, it in ipairs(queues) do
    if text(call('SISMEMBER', base .. 'paused', it[1])) ~= it[2] then
      return false
    end
  end
  for _, it in ipairs(lanes) do
    if call('ZCARD', base .. lane_key(it[1], '+' .. it[2])) > tonumber(it[3]) then
      return false
    end
  end
  for _, it in ipairs(let_in) do
    if tonumber(call('ZSCORE', base .. 'held:' .. it[2], it[1]) or -1) ~= tonumber(it[3]) then
      return false
    end
  end
  for _, it in ipairs(back) do
    if not spot_at(it[1]) or spot_at(it[1]).claimed ~= '-' then
      return false
    end
  end
  return true
end

if not is_as_seen() then
  return { now_text, '0' }
end

for _, it in ipairs(arrivals) do
  if tonumber(call('ZSCORE', base .. 'arrivals', it[1]) or -1) == tonumber(it[2]) then
    place(base .. 'arrivals', it[1], false)
  end
end

-- Paces that no rate counts any more go with the next look at their key.
local outdated = {}
for _, it in ipairs(keys) do
  local key, wake = it[1], it[3]
  if limit_at(key).is_there then
    raise(key)
    added(fields, base .. 'limit:' .. key, 'wake', wake, 'spent', it[4], 'window', it[5])
    place(base .. 'wakes', key, wake ~= '-' and wake)
    call('ZCARD', base .. 'paces:' .. key)
    outdated[base .. 'paces:' .. key] = text(now - limit_at(key).rate_ms)
  end
end
for _, it in ipairs(spends) do
  place(base .. 'spends:' .. it[1], it[2], false)
end

-- A ring without anybody in it is not hungry.
local rings = {}

local function ring_of(flow, waits)
  local ring = flow.priority .. ' ' .. waits
  rings[ring] = rings[ring] or call('ZCARD', base .. 'ring:' .. ring)
  return ring
end

-- In the ring, and among those of its account in it; without a pass, out of both.
local function stand(flow, ring, member, pass)
  local account = base .. 'account:' .. flow.weigher .. ' ' .. ring
  call('ZCARD', account)
  place(base .. 'ring:' .. ring, member, pass)
  place(account, member, pass)
end

for _, it in ipairs(moved) do
  local id, flow = it[1], flow_at(it[1])
  local member, waits = flow.number .. ' ' .. id, it[4]
  if flow.waits ~= '' then
    stand(flow, ring_of(flow, flow.waits), member, false)
  end
  if waits ~= '' then
    local ring = ring_of(flow, waits)
    stand(flow, ring, member, it[3])
    if rings[ring] == 0 then
      added(fields, base .. 'hungry', ring, now_text)
    end
    if sub(waits, 1, 4) ~= 'key ' then
      added(grown, base .. 'waited', ring)
    end
  end
  flow.version, flow.pass, flow.waits, flow.next_at = text(flow.version + 1), it[3], waits, it[5]
  keep_flow(id, flow)
  place(base .. 'nexts', id, it[5] ~= '-' and it[5])
end
for _, it in ipairs(fed) do
  rings[it[1]] = rings[it[1]] or call('ZCARD', base .. 'ring:' .. it[1])
  added(fields, base .. 'hungry', it[1], now_text)
end

for n, it in ipairs(let_in) do
  local id, flow = it[1], flow_at(it[2])
  place(base .. 'held:' .. it[2], id, false)
  take_slots(id, {
    let_in = now_text, held_at = it[3], claimed = '-', flow = it[2], weigher = flow.weigher, keys = flow.keys, queue = flow.queue, lane = flow.lane,
  })
  -- In the order of letting in.
  enter_lane(flow.queue, '+' .. flow.lane, id, format('%.7f', now + n / 128))
  tell('queue\t' .. flow.queue .. '\t' .. sub(flow.lane, 2))
end
for _, it in ipairs(back) do
  local id, spot = it[1], spot_at(it[1])
  free_slots(id, '0')
  keep_held(id, { id = spot.flow, weigher = spot.weigher, keys = spot.keys, queue = spot.queue, lane = spot.lane }, spot.held_at)
  -- Who gives way is out of turn for a while.
  if it[2] == '1' then
    stir('f' .. spot.flow)
  end
end
for _, it in ipairs(again) do
  stir(it[1])
end

-- Looked at now, because what is written behind the first write must have been.
call('EXISTS', base .. 'hungry', base .. 'waited')
for _, it in ipairs(moved) do
  call('EXISTS', base .. 'held:' .. it[1])
  for _, key in ipairs(flow_at(it[1]).keys) do
    call('SCARD', base .. 'flows-of:' .. key)
  end
end
look_lanes()
write(name)
leave_lanes()
for key, until_at in pairs(outdated) do
  call('ZREMRANGEBYSCORE', key, '-inf', until_at)
end
for ring in pairs(rings) do
  if call('EXISTS', base .. 'ring:' .. ring) == 0 then
    call('HDEL', base .. 'hungry', ring)
    call('SREM', base .. 'waited', ring)
  end
end
for _, it in ipairs(moved) do
  local flow = flow_at(it[1])
  if flow.waits == '' and flow.next_at == '-' and call('EXISTS', base .. 'held:' .. it[1]) == 0 then
    for _, key in ipairs(flow.keys) do
      call('SREM', base .. 'flows-of:' .. key, it[1])
    end
    call('PEXPIRE', base .. 'flow:' .. it[1], @FLOW_KEPT_MS@)
  end
end
return { now_text, '1' }
