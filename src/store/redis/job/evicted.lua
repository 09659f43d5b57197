-- Jobs that have left this server for its ledger. A server without one has none, and is asked nothing.
local evicted = tonumber(known[8] or '0')

local function is_evicted(id)
  return evicted > 0 and call('SISMEMBER', base .. 'evicted', id) == 1
end

-- In the place of such a job: its id, and the entry by which what the ledger says of it must not be before.
local function evicted_row(id)
  return is_evicted(id) and { id, text(evicted) }
end
