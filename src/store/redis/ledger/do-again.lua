-- Does what an entry says: commands as they were written, with keys as they are called here.
local meta = KEYS[1]
local base = string.sub(meta, 1, -5)

local function do_again(text)
  for _, line in ipairs(cjson.decode(text)) do
    local command = line[1]
    for i = 2, #line do
      if i == 2 or command == 'UNLINK' or command == 'EVICT' or (command == 'MSET' and i % 2 == 0) then
        line[i] = base .. line[i]
      end
    end
    if command == 'EVICT' then
      line[1] = 'UNLINK'
    end
    redis.call(unpack(line))
  end
end
