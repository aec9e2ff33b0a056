import { closeSync, openSync } from 'node:fs'
import { socketCalls, type SocketCalls } from './shared-port-calls.ts'
import { noNewConnection } from './shared-port-programs.ts'

/** So long those on their way may finish their handshake when newcomers are refused, milliseconds. */
const handshakeMs = 50
/** Within so many turns of the event loop everybody who waits is taken in, or never. */
const turnsMost = 1_000

/** The socket with which this process listens on a port. */
export interface Listener {
  readonly calls: SocketCalls
  readonly socket: number
  /** Whoever stops the server frees the number for something else. */
  isListening(): boolean
}

/** @throws where it cannot be had: not Linux, no libc, a sandbox, no such socket */
export function findListener(port: number): Listener {
  if (process.platform !== 'linux') throw new Error('only Linux has it')
  const calls = socketCalls()
  const [socket, ...more] = calls.find(port, 'listening')
  if (socket === undefined || more.length > 0)
    throw new Error(
      `${more.length === 0 ? 'no socket' : 'more than one socket'} of this process listens on port ${port}`,
    )
  return { calls, socket, isListening: () => calls.is(socket, port, 'listening') }
}

/**
 * Stops listening without losing those who are connected or wait to be taken in: the server takes them in first. Takes
 * 50 ms, and longer when it is busy.
 *
 * @returns whether that was done; if not, the socket still listens, or was closed by somebody else
 */
export async function closeListener({ calls, socket, isListening }: Listener): Promise<boolean> {
  if (!isListening()) return false
  calls.filter(socket, noNewConnection)
  await Bun.sleep(handshakeMs)
  for (let turn = 0; turn < turnsMost && isListening() && calls.waiting(socket) > 0; turn++) await Bun.sleep(1)
  return isListening() && closeOnly(calls, socket)
}

/**
 * Puts something harmless in the place of the listening socket: Bun's own `stop` closes idle connections too, and with
 * them requests on their way.
 */
function closeOnly(calls: SocketCalls, socket: number): boolean {
  const harmless = openSync('/dev/null', 'r')
  try {
    return calls.replace(socket, harmless)
  } finally {
    closeSync(harmless)
  }
}
