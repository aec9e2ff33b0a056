/**
 * The least that a relay on Bun can do: `bare-relay-server.ts PORT UPSTREAM_PORT`. Body in, `fetch`, body out; nothing
 * is looked at. What it costs is what the runtime costs.
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
