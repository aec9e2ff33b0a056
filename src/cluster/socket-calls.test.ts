import { expect, test } from 'bun:test'
import { socketCalls } from './socket-calls.ts'

test.skipIf(process.platform !== 'linux')(
  'sockets of this process are found by their port and what they do, and not when they are closed',
  async () => {
    const { find } = socketCalls()
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const port = server.port ?? 0
    expect(find(port, 'listening')).toHaveLength(1)
    expect(find(port, 'established')).toEqual([])
    await fetch(`http://127.0.0.1:${port}/`, { proxy: '' })
    expect(find(port, 'established')).toHaveLength(1)
    await server.stop(true)
    expect(find(port, 'listening')).toEqual([])
  },
)
