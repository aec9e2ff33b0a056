import { connect } from 'node:net'

/** How a flood went. */
export interface Flood {
  /** Status → how many answers had it. */
  readonly statuses: ReadonlyMap<number, number>
  readonly ms: number
}

export interface FloodOptions {
  readonly port: number
  /** The bytes of one request, without a body. */
  readonly request: string
  readonly count: number
  /** Connections, each with one request at a time. Default 64. */
  readonly connections?: number
  /** Address of this machine that they come from. Default 127.0.0.1. */
  readonly from?: string
}

/**
 * Sends a request many times over connections that are kept, and counts the answers, whose bodies have a
 * `content-length` or none.
 */
export async function flood({
  port,
  request,
  count,
  connections = 64,
  from = '127.0.0.1',
}: FloodOptions): Promise<Flood> {
  const statuses = new Map<number, number>()
  const started = performance.now()
  let left = count
  const take = () => left-- > 0
  const note = (status: number) => void statuses.set(status, (statuses.get(status) ?? 0) + 1)
  await Promise.all(Array.from({ length: connections }, () => oneConnection(port, from, request, take, note)))
  return { statuses, ms: performance.now() - started }
}

/** Asks on one connection until there is nothing left to ask. */
function oneConnection(
  port: number,
  from: string,
  request: string,
  take: () => boolean,
  note: (status: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    const next = () => {
      if (take()) socket.write(request)
      else socket.end(resolve)
    }
    let received = ''
    socket.setEncoding('latin1')
    socket.setNoDelay(true)
    socket.on('connect', next)
    socket.on('error', reject)
    socket.on('data', (text) => {
      received += String(text)
      const end = received.indexOf('\r\n\r\n')
      if (end === -1) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received.slice(0, end))?.[1] ?? 0)
      if (received.length < end + 4 + length) return
      note(Number(received.slice(9, 12)))
      received = received.slice(end + 4 + length)
      next()
    })
  })
}
