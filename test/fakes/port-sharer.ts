import { openConnections } from '../../src/cluster/open-connections.ts'

// Process that shares a port: `bun port-sharer.ts PORT` (0: a free one). It answers each request with its
// process id. It sends the message `[port]` when it listens, and takes `leave`: it then sends `left` or `stayed`.

let isClosing = false
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  reusePort: true,
  development: false,
  fetch: () => new Response(String(process.pid), isClosing ? { headers: { connection: 'close' } } : {}),
})
const port = server.port ?? 0
const connections = openConnections(port)

process.on('message', () => void leave())
process.on('disconnect', () => process.exit())

async function leave(): Promise<void> {
  isClosing = true
  process.send?.((await connections?.stopListening()) === true ? 'left' : 'stayed')
}

process.send?.([port])
