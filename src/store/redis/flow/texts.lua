-- Flows, and spots of jobs, as they are written down (`hall.lua`).
local FLOW = '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$'
local SPOT = '^(%S+) (%S+) (%S+) (%S+) (%S+)([^\n]*)\n([^\n]*)\n(.*)$'
local flows, spots = {}, {}

local function words_in(list)
  local words = {}
  for each in string.gmatch(list, '%S+') do
    words[#words + 1] = each
  end
  return words
end

local function flow_at(id)
  if flows[id] == nil then
    local value = call('GET', base .. 'flow:' .. id)
    local version, number, pass, next_at, priority, weigher, keys, queue, lane, waits = match(value or '', FLOW)
    flows[id] = version and {
      version = version, number = number, pass = pass, next_at = next_at, priority = priority, weigher = weigher, keys = words_in(keys),
      queue = queue, lane = lane, waits = waits,
    } or false
  end
  return flows[id]
end

local function spot_at(id)
  if spots[id] == nil then
    local value = call('GET', base .. 'spot:' .. id)
    local let_in, held_at, claimed, flow, weigher, keys, queue, lane = match(value or '', SPOT)
    spots[id] = let_in and {
      let_in = let_in, held_at = held_at, claimed = claimed, flow = flow, weigher = weigher, keys = words_in(keys), queue = queue, lane = lane,
    } or false
  end
  return spots[id]
end
