-- Every kind of handle, through luv.
local uv = require('luv')
local short, lua = arg[1] == 'short', arg[2]
local function rounds(few, many) return short and few or many end

local function same(a, b)
  if a ~= b then error(tostring(a) .. ' is not ' .. tostring(b), 2) end
end

-- Runs a check on the default loop, which must then end by itself.
local function check(name, run)
  local guard = uv.new_timer()
  guard:start(15000, 0, function() error(name .. ' does not end') end)
  guard:unref()
  local ok, why = pcall(function()
    local after = run()
    uv.run()
    if after then after() end
  end)
  guard:close()
  uv.walk(function(handle)
    if not handle:is_closing() then
      ok, why = false, why or ('left open: ' .. tostring(handle))
      handle:close()
    end
  end)
  uv.run()
  print((ok and 'ok - ' or 'not ok - ') .. name .. ' (' .. lua .. ')' .. (ok and '' or ': ' .. tostring(why):gsub('%s+', ' ')))
end

check('the library is in Lua', function()
  local seen = {}
  for line in io.lines('/proc/self/maps') do
    local path = line:match('(/%S*libuv%.so%S*)')
    if path and not seen[path] then seen[path] = true; seen[#seen + 1] = path end
  end
  same(table.concat(seen, ' '), os.getenv('OXUV_LIBRARY'))
end)

check('timers', function()
  local order, again = {}, 0
  for _, delay in ipairs({ 30, 10, 20 }) do
    local timer = uv.new_timer()
    timer:start(delay, 0, function() order[#order + 1] = delay; timer:close() end)
  end
  local timer = uv.new_timer()
  timer:start(1, 2, function()
    again = again + 1
    if again == 5 then timer:set_repeat(1); timer:again() end
    if again == 10 then same(timer:get_repeat(), 1); timer:close() end
  end)
  return function() same(table.concat(order, ' '), '10 20 30'); same(again, 10) end
end)

check('prepare, check and idle, in a turn', function()
  local order = {}
  local prepare, checks, idle = uv.new_prepare(), uv.new_check(), uv.new_idle()
  prepare:start(function() order[#order + 1] = 'p' end)
  checks:start(function()
    order[#order + 1] = 'c'
    if #order == 9 then prepare:close(); checks:close(); idle:close() end
  end)
  idle:start(function() order[#order + 1] = 'i' end)
  return function() same(table.concat(order), 'ipcipcipc') end
end)

check('async, from other threads', function()
  local sum, async = 0, nil
  async = uv.new_async(function(value)
    sum = sum + 1
    if value == 'end' then async:close() end
  end)
  local thread = uv.new_thread(function(handle)
    for _ = 1, 1000 do handle:send('x') end
    require('luv').sleep(5)
    handle:send('end')
  end, async)
  return function() thread:join(); assert(sum >= 1 and sum <= 1001, sum) end
end)

check('work on threads', function()
  local sum = 0
  local work = uv.new_work(function(n) local t = 0; for i = 1, n do t = t + i end; return t end, function(t) sum = sum + t end)
  for _ = 1, rounds(200, 3000) do work:queue(100) end
  return function() same(sum, 5050 * rounds(200, 3000)) end
end)

check('signals', function()
  local seen = {}
  local often, once = uv.new_signal(), uv.new_signal()
  often:start('sigusr1', function(name)
    seen[#seen + 1] = name
    if #seen == 3 then often:close() else uv.kill(uv.os_getpid(), 'sigusr1') end
  end)
  once:start('sigusr2', function(name) seen.once = (seen.once or 0) + 1; once:close(); uv.kill(uv.os_getpid(), 'sigusr1') end)
  uv.kill(uv.os_getpid(), 'sigusr2')
  return function() same(table.concat(seen, ' '), 'sigusr1 sigusr1 sigusr1'); same(seen.once, 1) end
end)

local function echo(new, server, clients, connect, size)
  local left, wrong = clients, 0
  server:listen(128, function(err)
    assert(not err, err)
    local peer = new()
    server:accept(peer)
    peer:read_start(function(_, data)
      if data then peer:write(data) else peer:shutdown(function() peer:close() end) end
    end)
  end)
  for i = 1, clients do
    local text, parts = (i .. ' '):rep(size), {}
    local client
    client = connect(function(err)
      assert(not err, err)
      client:read_start(function(why, data)
        assert(not why, why)
        if data then parts[#parts + 1] = data return end
        if table.concat(parts) ~= text then wrong = wrong + 1 end
        client:close()
        left = left - 1
        if left == 0 then server:close() end
      end)
      client:write({ text:sub(1, 10), text:sub(11) })
      client:shutdown()
    end)
  end
  return function() same(left, 0); same(wrong, 0) end
end

check('TCP', function()
  local server = uv.new_tcp()
  server:bind('127.0.0.1', 0)
  local port = server:getsockname().port
  return echo(uv.new_tcp, server, rounds(30, 200), function(connected)
    local client = uv.new_tcp()
    client:nodelay(true)
    client:keepalive(true, 5)
    client:connect('127.0.0.1', port, connected)
    return client
  end, 20000)
end)

check('pipes', function()
  local server = uv.new_pipe(false)
  same(server:bind('echo'), 0)
  same(server:getsockname(), 'echo')
  return echo(function() return uv.new_pipe(false) end, server, rounds(30, 100), function(connected)
    local client = uv.new_pipe(false)
    client:connect('echo', connected)
    return client
  end, 20000)
end)

check('a TCP connection that is passed through a pipe', function()
  local fds = uv.socketpair('stream', nil, { nonblock = true }, { nonblock = true })
  local left, right = uv.new_pipe(true), uv.new_pipe(true)
  left:open(fds[1])
  right:open(fds[2])
  local server, said = uv.new_tcp(), nil
  server:bind('127.0.0.1', 0)
  server:listen(1, function()
    local peer = uv.new_tcp()
    server:accept(peer)
    left:write2('here', peer, function() peer:close() end)
  end)
  right:read_start(function(_, data)
    if data == 'here' then
      same(right:pending_count(), 1)
      same(right:pending_type(), 'tcp')
      local taken = uv.new_tcp()
      right:accept(taken)
      taken:write('taken over', function() taken:close(); left:close(); right:close(); server:close() end)
    end
  end)
  local client = uv.new_tcp()
  client:connect('127.0.0.1', server:getsockname().port, function()
    client:read_start(function(_, data) said = said or data; if not data then client:close() end end)
  end)
  return function() same(said, 'taken over') end
end)

check('UDP', function()
  local server, client, count = uv.new_udp(), uv.new_udp(), 0
  server:bind('127.0.0.1', 0)
  local port = server:getsockname().port
  server:recv_start(function(_, data, from) if data then server:send(data, from.ip, from.port) end end)
  client:bind('127.0.0.1', 0)
  client:recv_start(function(_, data, from)
    if not data then return end
    same(from.port, port)
    same(#data, count * 10)
    count = count + 1
    if count == rounds(100, 1000) then server:close(); client:close()
    else client:send(('0123456789'):rep(count), '127.0.0.1', port) end
  end)
  client:send('', '127.0.0.1', port)
  return function() same(count, rounds(100, 1000)) end
end)

check('polling a descriptor', function()
  local fds = uv.socketpair('stream', nil, { nonblock = true }, { nonblock = true })
  local poll, other, seen = uv.new_socket_poll(fds[1]), uv.new_pipe(false), {}
  other:open(fds[2])
  poll:start('rw', function(err, events)
    assert(not err, err)
    seen[events] = true
    if events == 'w' then poll:start('r', function(_, now) seen[now] = true; poll:close(function() uv.fs_close(fds[1]) end); other:close() end); other:write('x') end
  end)
  return function() assert(seen.w and seen.r) end
end)

check('a terminal', function()
  local fd = uv.fs_open('/dev/ptmx', 'r+', 0)
  local tty = uv.new_tty(fd, true)
  local width, height = tty:get_winsize()
  same(type(width) .. type(height), 'numbernumber')
  same(tty:set_mode(0), 0)
  tty:close()
end)

check('processes', function()
  local out, err, ends = {}, {}, {}
  local stdin, stdout, stderr = uv.new_pipe(false), uv.new_pipe(false), uv.new_pipe(false)
  local process, pid
  process, pid = uv.spawn('sh', { args = { '-c', 'cat; echo $A >&2; pwd; exit 4' }, stdio = { stdin, stdout, stderr },
    env = { 'A=b' }, cwd = '/' }, function(code, signal)
    ends.code, ends.signal = code, signal
    process:close()
  end)
  same(process:get_pid(), pid)
  local function take(pipe, parts) pipe:read_start(function(_, data) if data then parts[#parts + 1] = data else pipe:close() end end) end
  take(stdout, out)
  take(stderr, err)
  stdin:write(('x'):rep(500000))
  stdin:shutdown(function() stdin:close() end)
  local killed
  local sleeper
  sleeper = uv.spawn('sleep', { args = { '20' } }, function(_, signal) killed = signal; sleeper:close() end)
  sleeper:kill('sigkill')
  local none, why = uv.spawn('/no/such', {}, function() end)
  same(none, nil)
  same(why:match('^%w+'), 'ENOENT')
  return function()
    same(ends.code, 4)
    same(killed, 9)
    same(#table.concat(out), 500002)
    same(table.concat(err), 'b\n')
  end
end)

check('changes of files, and looks at them', function()
  uv.fs_close(uv.fs_open('watched', 'w', 420))
  local event, poll, seen, looks = uv.new_fs_event(), uv.new_fs_poll(), 0, 0
  event:start('watched', {}, function(err, name, events)
    assert(not err and name == 'watched' and events.change)
    seen = seen + 1
    if seen == 1 then event:close() end
  end)
  poll:start('watched', 20, function(_, before, now)
    same(before.size, 0)
    same(now.size, 3)
    looks = looks + 1
    poll:close()
  end)
  local timer = uv.new_timer()
  timer:start(80, 0, function()
    local fd = uv.fs_open('watched', 'a', 420)
    uv.fs_write(fd, 'abc')
    uv.fs_close(fd)
    timer:close()
  end)
  return function() same(seen, 1); same(looks, 1) end
end)

check('files', function()
  local done = 0
  for i = 1, rounds(100, 1000) do
    local name = 'file-' .. i
    uv.fs_open(name, 'w+', 420, function(err, fd)
      assert(not err, err)
      uv.fs_write(fd, { 'a', 'bc', name }, 0, function(_, size)
        same(size, 3 + #name)
        uv.fs_read(fd, 3, 0, function(_, data)
          same(data, 'abc')
          uv.fs_close(fd, function() uv.fs_unlink(name, function() done = done + 1 end) end)
        end)
      end)
    end)
  end
  local folder = uv.fs_mkdtemp('dir-XXXXXX')
  uv.fs_close(uv.fs_open(folder .. '/x', 'w', 420))
  uv.fs_symlink('x', folder .. '/link')
  same(uv.fs_readlink(folder .. '/link'), 'x')
  local names, scan = {}, uv.fs_scandir(folder)
  while true do
    local name, kind = uv.fs_scandir_next(scan)
    if not name then break end
    names[#names + 1] = name .. ':' .. kind
  end
  table.sort(names)
  same(table.concat(names, ' '), 'link:link x:file')
  same(select(3, uv.fs_stat('/no/such')), 'ENOENT')
  return function() same(done, rounds(100, 1000)) end
end)

check('names and addresses', function()
  local found, host
  uv.getaddrinfo('localhost', 'http', { family = 'inet', socktype = 'stream' }, function(_, list) found = list[1].addr .. ':' .. list[1].port end)
  uv.getnameinfo({ ip = '127.0.0.1', port = 80 }, function(_, name, service) host = name .. ':' .. service end)
  return function() same(found, '127.0.0.1:80'); same(host, 'localhost:http') end
end)

check('the machine and the process', function()
  local file = io.open('/proc/meminfo')
  same(uv.get_total_memory(), 1024 * tonumber(file:read('*a'):match('MemTotal: +(%d+)')))
  file:close()
  same(uv.cwd(), os.getenv('PWD'))
  assert(uv.hrtime() > 0 and uv.uptime() > 0 and #uv.cpu_info() > 0)
  same(uv.interface_addresses().lo[1].ip, '127.0.0.1')
  uv.os_setenv('OXUV_X', 'y')
  same(uv.os_getenv('OXUV_X'), 'y')
  same(#uv.random(16), 16)
  same(uv.os_uname().sysname, 'Linux')
  same(uv.translate_sys_error(2), 'ENOENT: no such file or directory')
end)

same(uv.loop_close(), 0)
