-- What a round of letting in must know, as of one moment. Looked at is what has come (`stir.lua`) and whose time has come; by the ticker
-- also lanes and queues at which somebody waits, and jobs that have stood for long while others wait for their slots.
local is_ticker, spin = ARGV[3] == '1', tonumber(ARGV[4])
local places, is_place, come, back, has_gone = {}, {}, {}, {}, {}

local function look_at(where)
  if not is_place[where] then
    is_place[where] = true
    places[#places + 1] = where
  end
end

local function due(key)
  return call('ZRANGE', base .. key, '-inf', now_text, 'BYSCORE', 'LIMIT', 0, @LOOK_MOST@)
end

local function take_back(id, why)
  if not has_gone[id] then
    has_gone[id] = true
    back[#back + 1] = { id, why, spot_at(id).flow, spot_at(id).let_in }
  end
end

local function is_paused(queue)
  return call('SISMEMBER', base .. 'paused', queue) == 1
end

-- Nobody stands in a queue that is paused.
local function clear(queue)
  local lanes = {}
  for priority = 0, @PRIORITIES@ - 1 do
    lanes[#lanes + 1] = '+' .. priority
  end
  for _, lane in ipairs(call('SRANDMEMBER', base .. 'sides:' .. queue, @LOOKED_AT@)) do
    if sub(lane, 1, 1) == '+' then
      lanes[#lanes + 1] = lane
    end
  end
  for _, lane in ipairs(lanes) do
    for _, id in ipairs(call('ZRANGE', base .. lane_key(queue, lane), '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, @LOOK_MOST@)) do
      if #back < @LOOK_MOST@ and spot_at(id) then
        take_back(id, 'paused')
      end
    end
  end
end

-- Flows of those that give way wait nowhere any more: at each place how many fewer wait.
local has_given_way, fewer_at = {}, {}

local function give_way(id)
  local flow = spot_at(id).flow
  local where = flow_at(flow) and flow_at(flow).waits
  if where and not has_given_way[flow] then
    has_given_way[flow] = true
    fewer_at[where] = (fewer_at[where] or 0) + 1
  end
  take_back(id, 'stood')
end

-- Whether another flow waits for what a job has of one of its keys.
local function is_in_the_way(spot)
  local own = not has_given_way[spot.flow] and flow_at(spot.flow)
  for _, key in ipairs(spot.keys) do
    local where = 'key ' .. key
    local waiting = (own and own.waits == where and -1 or 0) - (fewer_at[where] or 0)
    for n, since in ipairs(hungry_at(where)) do
      waiting = waiting + (since and call('ZCARD', base .. 'ring:' .. n - 1 .. ' ' .. where) or 0)
    end
    if waiting > 0 then
      return true
    end
  end
  return false
end

local arrivals = call('ZRANGE', base .. 'arrivals', '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, @LOOK_MOST@, 'WITHSCORES')
for i = 1, #arrivals, 2 do
  local sort, what = sub(arrivals[i], 1, 1), sub(arrivals[i], 2)
  if sort == 'k' then
    look_at('key ' .. what)
  elseif sort == 'l' then
    look_at('lane ' .. what)
  elseif sort == 'q' then
    look_at('queue ' .. what)
    if is_paused(what) then
      clear(what)
    end
  else
    -- A flow that waits somewhere is found there; one that has no job any more is to leave.
    local flow = flow_at(what)
    if flow and (flow.waits == '' or call('EXISTS', base .. 'held:' .. what) == 0) then
      come[#come + 1] = what
    end
  end
end
for _, key in ipairs(due('wakes')) do
  look_at('key ' .. key)
end
for _, flow in ipairs(due('nexts')) do
  come[#come + 1] = flow
end
if is_ticker then
  for _, ring in ipairs(call('SRANDMEMBER', base .. 'waited', @LOOK_MOST@)) do
    local where = sub(ring, 3)
    if sub(where, 1, 5) == 'lane ' and call('ZCARD', base .. sub(where, 6)) < @LANE_WINDOW@ then
      look_at(where)
    elseif sub(where, 1, 6) == 'queue ' and not is_paused(sub(where, 7)) then
      look_at(where)
    end
  end
  local until_at = text(now - @PATIENCE_MS@)
  local stood = call('ZCOUNT', base .. 'stood', '-inf', until_at)
  local from = stood > @LOOKED_AT@ and spin % stood or 0
  for _, id in ipairs(call('ZRANGE', base .. 'stood', '-inf', until_at, 'BYSCORE', 'LIMIT', from, @LOOKED_AT@)) do
    if #back < @LOOK_MOST@ and not has_gone[id] and spot_at(id) and is_in_the_way(spot_at(id)) then
      give_way(id)
    end
  end
end

local rings, flow_ids, is_flow = {}, {}, {}

local function with_flow(id)
  if not is_flow[id] and flow_at(id) then
    is_flow[id] = true
    flow_ids[#flow_ids + 1] = id
  end
end

for _, id in ipairs(come) do
  with_flow(id)
end
for _, it in ipairs(back) do
  with_flow(it[3])
end
local ring_most = math.max(1, math.min(@LANE_WINDOW@, math.floor(@TRIES@ / math.max(1, #places))))
for _, where in ipairs(places) do
  for n, since in ipairs(hungry_at(where)) do
    if since then
      local ring = { where, text(n - 1), since }
      for _, member in ipairs(call('ZRANGE', base .. 'ring:' .. n - 1 .. ' ' .. where, '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, ring_most)) do
        local id = match(member, ' (.*)$')
        ring[#ring + 1] = id
        with_flow(id)
      end
      rings[#rings + 1] = ring
    end
  end
end

local heads = math.max(1, math.min(@LANE_WINDOW@, math.floor(@TRIES@ / math.max(1, #flow_ids))))
local key_ids, is_key, lowest_of = {}, {}, {}

local function with_key(key)
  if not is_key[key] then
    is_key[key] = true
    key_ids[#key_ids + 1] = key
  end
end

-- The lowest pass of those who wait already where a flow might come to wait.
local function lowest(ring)
  if lowest_of[ring] == nil then
    local first = call('ZRANGE', base .. 'ring:' .. ring, '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
    lowest_of[ring] = first[2] or false
  end
  return lowest_of[ring]
end

-- The highest of those who wait there on one account.
local function last(ring, weigher)
  return call('ZRANGE', base .. 'account:' .. weigher .. ' ' .. ring, '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')[2] or '-'
end

local seen_flows = {}
for _, id in ipairs(flow_ids) do
  local it = flow_at(id)
  local lane = lane_key(it.queue, '+' .. it.lane)
  local others, where = {}, { 'lane ' .. lane, 'queue ' .. it.queue }
  for _, key in ipairs(it.keys) do
    with_key(key)
    where[#where + 1] = 'key ' .. key
  end
  for _, each in ipairs(where) do
    local ring = it.priority .. ' ' .. each
    local pass = lowest(ring)
    if pass then
      others[#others + 1] = { each, pass, last(ring, it.weigher) }
    end
  end
  seen_flows[#seen_flows + 1] = {
    id, it.version, it.queue, it.lane, lane, it.priority, table.concat(it.keys, ' '), it.pass, it.waits, it.next_at,
    it.weigher ~= '-' and call('HGET', base .. 'limit:' .. it.weigher, 'weight') or '1', is_paused(it.queue) and '1' or '0',
    text(call('ZCARD', base .. lane)), it.weigher, others,
    call('ZRANGE', base .. 'held:' .. id, '-inf', '+inf', 'BYSCORE', 'LIMIT', 0, heads, 'WITHSCORES'),
  }
end

for _, where in ipairs(places) do
  if sub(where, 1, 4) == 'key ' then
    with_key(sub(where, 5))
  end
end

local seen_keys = {}
for _, key in ipairs(key_ids) do
  local version, gate, since, rate_ms, spent, window, wake =
    unpack(call('HMGET', base .. 'limit:' .. key, 'version', 'gate', 'since', 'rateMs', 'spent', 'window', 'wake'))
  seen_keys[#seen_keys + 1] = {
    key, version or '0', gate or '@UNSAID_GATE@', spent or '0', window or '0', wake or '-', count_of(key, since or '0', tonumber(rate_ms or 0)),
    spends_of(key), is_place['key ' .. key]
      and call('ZRANGE', base .. 'standing:' .. key, '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, @LOOK_MOST@, 'WITHSCORES') or {},
  }
end
return { now_text, arrivals, places, come, rings, seen_flows, seen_keys, back, text(ring_most), text(heads) }
