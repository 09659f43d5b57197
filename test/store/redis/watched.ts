import type { ScriptName } from '../../../src/store/redis/script/scripts.ts'

/** Commands of scripts that write. Whatever else they call, reads. */
const WRITES = [
  'HDEL',
  'HINCRBY',
  'HSET',
  'MSET',
  'PEXPIRE',
  'SADD',
  'SET',
  'SPUBLISH',
  'SREM',
  'UNLINK',
  'XADD',
  'XTRIM',
  'ZADD',
  'ZREM',
  'ZREMRANGEBYSCORE',
]

/**
 * The scripts, each of whose commands is watched: once one has written, it may write only to keys that it has looked at before, and
 * fails otherwise. Where `failAt` is given, the command of that number fails, unless something was written before it.
 */
export function watched(
  texts: Readonly<Record<ScriptName, string>>,
  failAt: { readonly script: ScriptName; readonly command: number } | undefined = undefined,
): Readonly<Record<ScriptName, string>> {
  const entries = Object.entries(texts).map(([name, text]) => {
    const at = failAt?.script === name ? failAt.command : 0
    return [name, `${watching(at)}\n${text}`]
  })
  return Object.fromEntries(entries) as Record<ScriptName, string>
}

const watching = (failAt: number): string => `
local real, count, has_written, looked_at = redis, 0, false, { [KEYS[1]] = true }
local writes = {}
for name in string.gmatch('${WRITES.join(' ')}', '%S+') do writes[name] = true end
local function keys_of(command, ...)
  local args, keys = { ... }, {}
  if command == 'MSET' then
    for i = 1, #args, 2 do keys[#keys + 1] = args[i] end
  elseif command == 'MGET' or command == 'EXISTS' or command == 'UNLINK' then
    keys = args
  elseif command == 'ZINTERCARD' then
    for i = 2, #args do keys[#keys + 1] = args[i] end
  elseif command ~= 'SPUBLISH' and command ~= 'TIME' then
    keys = { args[1] }
  end
  return keys
end
local redis = {
  call = function(command, ...)
    count = count + 1
    if count == ${failAt} and not has_written then error({ err = 'ERR injected at ' .. count .. ' ' .. command }) end
    local keys = keys_of(command, ...)
    if writes[command] then
      has_written = true
      for _, key in ipairs(keys) do
        if not looked_at[key] then error({ err = 'ERR ' .. command .. ' of ' .. key .. ', which was not looked at' }) end
      end
    elseif not has_written then
      for _, key in ipairs(keys) do looked_at[key] = true end
    end
    return real.call(command, ...)
  end,
}`
