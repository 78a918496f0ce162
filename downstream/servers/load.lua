-- What wrk asks of a server: http or echo, and `close` if each connection is for one request. Prints to the standard error how many
-- requests were answered, and how many failed.
local checked = false

function init(arguments)
    local close = arguments[2] == "close" and "Connection: close\r\n" or ""
    local plain = wrk.format("GET", "/", { Host = "x", Connection = arguments[2] })
    local answer = "HTTP/1.1 200 OK\r\n" .. close .. "Content-Length: 13\r\n\r\nhello, world\n"
    if arguments[1] == "http" then
        wrk.format = function() return plain end
        return
    end
    -- An echo server is sent the very answer that wrk waits for. The first one is not sent: wrk looks whether it is a request.
    function request()
        if checked then return answer end
        checked = true
        return plain
    end
end

function done(summary)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.stderr:write(summary.requests, " ", failed, "\n")
end
