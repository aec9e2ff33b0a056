-- One POST of about 1 KB, over and over. Writes what was measured as one line of JSON.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = os.getenv("BENCH_BODY") or '{"model":"bench-model","messages":[{"role":"user","content":"' .. string.rep("y", 900) .. '"}]}'

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nJSON {"requests":%d,"durationUs":%d,"failed":%d,"badStatus":%d,"p50Us":%.0f,"p99Us":%.0f}\n',
    summary.requests, summary.duration, errors.connect + errors.read + errors.write + errors.timeout, errors.status,
    latency:percentile(50), latency:percentile(99)))
end
