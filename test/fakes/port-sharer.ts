import { sharedPort } from '../../src/cluster/shared-port.ts'

// A process that shares a port: `bun port-sharer.ts PORT` (0: a free one). It answers each request with its process id, says `[port]` when it
// listens, takes `{ place, of }` to leave and `spread`. When it leaves it says `leaving`, then `left` or `stayed`; `unable: …` when it cannot.

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
  else if (typeof message === 'object' && message !== null && 'place' in message && 'of' in message)
    void leave(Number(message.place), Number(message.of))
})
process.on('disconnect', () => process.exit())

async function leave(place: number, of: number): Promise<void> {
  isClosing = true
  const left = shared.leave({ place, of })
  tell('leaving')
  tell((await left) ? 'left' : 'stayed')
}

tell([port])
