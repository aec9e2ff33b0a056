import { sharedPort } from '../../src/cluster/shared-port.ts'

// Process that shares a port: `bun port-sharer.ts PORT` (0: a free one). It answers each request with its
// process id. It sends the message `[port]` when it listens, and takes `{ place, of }` to leave, and `spread`.
// When it leaves, it sends `leaving`, then `left` or `stayed`; `unable: …` when it cannot.

let isClosing = false
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  reusePort: true,
  development: false,
  fetch: () => new Response(String(process.pid), isClosing ? { headers: { connection: 'close' } } : {}),
})
const port = server.port ?? 0
const shared = sharedPort({ port, onUnable: (reason) => tell(`unable: ${reason}`) })

function tell(what: unknown): void {
  process.send?.(what)
}

process.on('message', (message: unknown) => {
  if (message === 'spread') shared.spread()
  else if (typeof message === 'object' && message !== null && 'index' in message && 'count' in message)
    void leave(Number(message.index), Number(message.count))
})
process.on('disconnect', () => process.exit())

async function leave(index: number, count: number): Promise<void> {
  isClosing = true
  const left = shared.leave({ index, count })
  tell('leaving')
  tell((await left) ? 'left' : 'stayed')
}

tell([port])
