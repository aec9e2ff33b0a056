/**
 * Minimal relay on Bun: `bare-relay-server.ts PORT UPSTREAM_PORT`. It passes each body to `fetch` and its answer back,
 * unread. Its cost is the cost of the runtime.
 */
const [port, upstreamPort] = process.argv.slice(2).map(Number)

Bun.serve({
  hostname: '127.0.0.1',
  port: port ?? 0,
  idleTimeout: 0,
  async fetch(request) {
    const upstream = await fetch(`http://127.0.0.1:${upstreamPort}${new URL(request.url).pathname}`, {
      method: request.method,
      headers: { 'content-type': 'application/json' },
      body: await request.bytes(),
    })
    return new Response(upstream.body, {
      status: upstream.status,
      headers: { 'content-type': upstream.headers.get('content-type') ?? '' },
    })
  },
})
