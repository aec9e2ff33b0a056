import { closeSync, openSync } from 'node:fs'
import { socketCalls, type SocketCalls } from './shared-port-calls.ts'
import type { PlaceInGroup } from './shared-port-order.ts'
import { allBut, noNewConnection } from './shared-port-programs.ts'

/** So long newcomers are sent elsewhere before the socket closes. Bun has the kernel hand a connection over with its first bytes, or a second after it was made (TCP_DEFER_ACCEPT). */
const windowMs = 1_300
/** So long those on their way may finish their handshake when newcomers are refused, milliseconds. */
const handshakeMs = 50
/** Within so many turns of the event loop everybody who waits is taken in, or never. */
const turnsMost = 1_000

/** What {@link sharedPort} needs. */
export interface SharedPortOptions {
  /** This process must listen on it already, with `reusePort`. */
  readonly port: number
  /** Told why the port cannot be left without loss here: not Linux, no libc, a sandbox. */
  readonly onUnable: (reason: string) => void
}

/** This process's part of a port that several processes share. Nothing of it throws. */
export interface SharedPort {
  /**
   * Stops listening without losing anybody, and without touching the connections that are open: the kernel sends newcomers to the other
   * sockets, those who wait are taken in, then the socket closes. Takes 1.4 seconds. The server must go on serving meanwhile, and afterwards
   * until its connections have gone.
   * @param where the place of this process's socket among those that share the port. A wrong one costs some newcomers a second, and at worst a connection
   * @returns whether that was done; if not, the server still listens
   */
  leave(where: PlaceInGroup): Promise<boolean>
  /** To be called in one that stays, whenever another has left or died: newcomers are spread evenly again. Until then all are served, but some get more. */
  spread(): void
  /** How many connections to the port this process holds; at least 1 when it cannot be told. Looks at every descriptor, 3 µs each: not to be asked often while there are thousands. */
  connections(): number
}

/**
 * Takes part in a shared port. When Linux closes one of the sockets that share a port, it resets the connections that wait in it, unless
 * net.ipv4.tcp_migrate_req is set; this is the way round it that needs no privilege. Ends what one that died while leaving may have left behind.
 */
export function sharedPort({ port, onUnable }: SharedPortOptions): SharedPort {
  const found = attempt(() => findSocket(port), onUnable)
  const spread = (): void => void found?.calls.spreadOverAll(found.socket)
  spread()
  return {
    spread,
    async leave(where) {
      try {
        return found !== undefined && await leaveGroup(found, where)
      } catch (error) {
        onUnable(reasonOf(error))
        return false
      }
    },
    connections: () => attempt(() => found?.calls.find(port, 'established').length, () => {}) ?? 1,
  }
}

interface Found {
  readonly calls: SocketCalls
  readonly port: number
  readonly socket: number
}

function findSocket(port: number): Found {
  if (process.platform !== 'linux') throw new Error('only Linux has it')
  const calls = socketCalls()
  const [socket, ...more] = calls.find(port, 'listening')
  if (socket === undefined || more.length > 0) throw new Error(`${more.length === 0 ? 'no socket' : 'more than one socket'} of this process listens on port ${port}`)
  return { calls, port, socket }
}

async function leaveGroup({ calls, port, socket }: Found, { place, of }: PlaceInGroup): Promise<boolean> {
  // Whoever stops the server meanwhile frees the number for something else.
  const isListening = (): boolean => calls.is(socket, port, 'listening')
  if (!isListening() || of < 2 || place >= of) return false
  if (!calls.spread(socket, allBut({ place, of }))) throw new Error('the kernel takes no program for the port')
  await Bun.sleep(windowMs)
  if (!isListening()) return false
  calls.filter(socket, noNewConnection)
  await Bun.sleep(handshakeMs)
  for (let turn = 0; turn < turnsMost && calls.waiting(socket) > 0; turn++) await Bun.sleep(1)
  return isListening() && closeOnly(calls, socket)
}

/** Puts something harmless in the place of the listening socket: Bun's own `stop` closes idle connections too, and with them requests on their way. */
function closeOnly(calls: SocketCalls, socket: number): boolean {
  const harmless = openSync('/dev/null', 'r')
  try {
    return calls.replace(socket, harmless)
  } finally {
    closeSync(harmless)
  }
}

function attempt<Value>(action: () => Value, onUnable: (reason: string) => void): Value | undefined {
  try {
    return action()
  } catch (error) {
    onUnable(reasonOf(error))
    return undefined
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
