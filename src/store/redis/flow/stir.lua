-- What somebody must look at: `k` and a key, `f` and a flow, `l` and a lane, `q` and a queue. It is written down by the call that it
-- comes from, with a number that is another in every call, and stays until a round has looked at it by that number.
local stirring

local function stir(what)
  if not stirring then
    stirring = text((call('HGET', base .. 'hall', 'stirred') or 0) + 1)
    added(fields, base .. 'hall', 'stirred', stirring)
  end
  place(base .. 'arrivals', what, stirring)
end
