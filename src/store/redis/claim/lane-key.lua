-- Lanes: the jobs of a queue and a priority, by when they are ready. A job that needs something stands in one beside it, which is
-- known by its need. `lane` is the priority's digit, and behind it the need, quoted, if there is one; before it a `+`, where it is
-- the one of those who were let in.
local function lane_key(queue, lane)
  if #lane == 1 then
    return 'lane:' .. lane .. ':' .. queue
  end
  if sub(lane, 1, 1) == '+' then
    return 'let-' .. lane_key(queue, sub(lane, 2))
  end
  return 'side:' .. sub(lane, 1, 1) .. ':' .. #queue .. ':' .. queue .. sub(lane, 2)
end
