-- Lanes: the jobs of a queue and a priority, by when they are ready. A job that needs something stands in one beside it, which is
-- known by its need. `lane` is the priority's digit, and behind it the need, quoted, if there is one.
local function lane_key(queue, lane)
  if #lane == 1 then
    return 'lane:' .. lane .. ':' .. queue
  end
  return 'side:' .. sub(lane, 1, 1) .. ':' .. #queue .. ':' .. queue .. sub(lane, 2)
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
    if #lane[2] > 1 then
      added(grown, sides_key(lane[1]), lane[2])
    end
  end
  if next(left) then
    call('SCARD', base .. 'lanes')
  end
  for _, lane in pairs(left) do
    if #lane[2] > 1 then
      call('SCARD', sides_key(lane[1]))
    end
  end
end

local function leave_lanes()
  for key, lane in pairs(left) do
    if call('EXISTS', base .. key) == 0 then
      call('SREM', base .. 'lanes', key)
      if #lane[2] > 1 then
        call('SREM', sides_key(lane[1]), lane[2])
      end
    end
  end
end
