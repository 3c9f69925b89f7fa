-- Replays a file of requests in a loop: method, path, Authorization, If-None-Match and body, separated by tabs.
-- All requests are formatted before the load begins, because the generator shares the CPU with what it measures.
local requests = {}
local count = 0
local current = 0

function init(args)
  for line in io.lines(args[1]) do
    local method, path, authorization, etag, body = line:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$")
    local headers = { Authorization = authorization }
    if etag ~= "" then headers["If-None-Match"] = etag end
    if body ~= "" then headers["Content-Type"] = "application/json" else body = nil end
    count = count + 1
    requests[count] = wrk.format(method, path, headers, body)
  end
end

function request()
  current = current % count + 1
  return requests[current]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"durationUs":%d,"bytes":%d,"p50Us":%d,"p99Us":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    errors.connect, errors.read, errors.write, errors.timeout, errors.status))
end
