import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { listening, ownSockets, parseSocketTable } from './shared-port-sockets.ts'

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'

test('a row of IPv4 and a row of IPv6 are read', () => {
  expect(parseSocketTable(`${head}   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 48211 1 0000000000000000 100 0 0 10 0\n`))
    .toEqual([{ port: 8080, state: listening, inode: 48211 }])
  expect(parseSocketTable(`${head}  12: 00000000000000000000000001000000:01BB 00000000000000000000000001000000:C350 01 00000000:00000003 02:000A7214 00000000  1000        0 7 2 ffff9 20 4 30 10 -1\n`))
    .toEqual([{ port: 443, state: 1, inode: 7 }])
})

test('what is no row is left out', () => {
  expect(parseSocketTable(head)).toEqual([])
  fc.assert(fc.property(fc.string(), (text) => { expect(Array.isArray(parseSocketTable(text))).toBe(true) }))
})

test.skipIf(process.platform !== 'linux')('the socket that this process listens on is found, and not when it is closed', async () => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const port = server.port ?? 0
  expect(ownSockets(port, listening)).toHaveLength(1)
  await server.stop(true)
  expect(ownSockets(port, listening)).toEqual([])
})
