-- Who enters a lane and who leaves it.
local QUOTE = 34

local function is_side(lane)
  return byte(lane, #lane) == QUOTE
end

local entered, left = {}, {}

local function enter_lane(queue, lane, id, ready_at)
  local key = lane_key(queue, lane)
  entered[key] = { queue, lane }
  place(base .. key, id, ready_at)
end

-- All of these at once: they are at its front.
local function leave_lane(queue, lane, ids)
  local key = lane_key(queue, lane)
  left[key] = { queue, lane }
  local leave = leaving(base .. key)
  for _, id in ipairs(ids) do
    leave[#leave + 1] = id
  end
end

-- One that a call may move more than once.
local function quit_lane(queue, lane, id)
  local key = lane_key(queue, lane)
  left[key] = { queue, lane }
  place(base .. key, id, false)
end

-- The lanes beside those of a queue that hold anything.
local function sides_key(queue)
  return base .. 'sides:' .. queue
end

-- Which lanes hold anything. After the lanes themselves have been written.
local function look_lanes()
  for key, lane in pairs(entered) do
    added(grown, base .. 'lanes', key)
    if is_side(lane[2]) then
      added(grown, sides_key(lane[1]), lane[2])
    end
  end
  if next(left) then
    call('SCARD', base .. 'lanes')
  end
  for _, lane in pairs(left) do
    if is_side(lane[2]) then
      call('SCARD', sides_key(lane[1]))
    end
  end
end

local function leave_lanes()
  for key, lane in pairs(left) do
    if call('EXISTS', base .. key) == 0 then
      call('SREM', base .. 'lanes', key)
      if is_side(lane[2]) then
        call('SREM', sides_key(lane[1]), lane[2])
      end
    end
  end
end
