-- A page of a load, if its joiner still is the one who joins and all pages before it are here. The first makes the server one that has
-- nothing: whatever it knows of itself was another's. `unlink`: keys that are no part of what is loaded; `entries`: what those say.
local epoch, number, kind = ARGV[1], ARGV[2], ARGV[3]
local known = redis.call('HMGET', meta, 'joining', 'pages')
if known[1] ~= epoch or (known[2] or '0') ~= number then
  return 'no'
end
if number == '0' then
  redis.call('UNLINK', meta)
  redis.call('HSET', meta, 'joining', epoch)
end
for i = 4, #ARGV do
  if kind == 'unlink' then
    redis.call('UNLINK', ARGV[i])
  else
    do_again(ARGV[i])
  end
end
redis.call('HSET', meta, 'pages', string.format('%.0f', number + 1))
return 'yes'
