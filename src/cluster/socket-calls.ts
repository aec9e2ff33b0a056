import { dlopen, ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'

// linux/tcp.h: the same on every processor that Bun runs on.
const tcpLevel = 6,
  tcpInfo = 11
/** Offset in `struct tcp_info` of a listening socket: connections waiting to be accepted (tcpi_unacked). */
const waitingAt = 24
/** Offset of the port in a socket's address of either family, in network byte order. */
const portAt = 2
/**
 * Offsets in `struct tcp_info`: unacknowledged segments and unsent bytes (tcpi_unacked, tcpi_notsent_bytes).
 */
const unconfirmedAt = 24,
  unsentAt = 144
/** Milliseconds since data was last sent and received (tcpi_last_data_sent, tcpi_last_data_recv). */
const sentAt = 44,
  receivedAt = 52
/** Covers the fields that are read. */
const infoBytes = 160
/** asm-generic: `MSG_PEEK | MSG_DONTWAIT`, and `SHUT_WR`. */
const lookOnly = 0x42,
  sending = 1
const closeOnExec = 0x80000

/** States of TCP sockets (tcp_states.h). */
export const socketStates = { established: 1, listening: 10 } as const

/** System calls on sockets of this process, by descriptor. A boolean result is success, where not said otherwise. */
export interface SocketCalls {
  /**
   * The sockets with this local port and state. Costs 3 µs per open descriptor.
   *
   * @throws when no descriptor is free to look
   */
  find(port: number, state: keyof typeof socketStates): readonly number[]
  /** Whether the descriptor is a socket with this local port and state. */
  is(socket: number, port: number, state: keyof typeof socketStates): boolean
  /** Number of connections waiting to be accepted. */
  waiting(socket: number): number
  /** The port of the other side. */
  peerPort(socket: number): number | undefined
  /** Whether no data was transferred for `quietMs`, no received data is unread, and all sent data is acknowledged. */
  isQuiet(socket: number, quietMs: number): boolean
  /** Sends the end of the stream (FIN). */
  endSending(socket: number): boolean
  /** Makes the descriptor refer to another's file, and closes its own (dup3). */
  replace(socket: number, by: number): boolean
}

/** System calls through the C library; musl also has glibc's file name. @throws without a C library */
export function socketCalls(): SocketCalls {
  const {
    symbols: { getsockopt, getsockname, getpeername, recv, shutdown, dup3 },
  } = dlopen('libc.so.6', {
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    getpeername: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    recv: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
    shutdown: { args: ['i32', 'i32'], returns: 'i32' },
    dup3: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  })
  const result = new DataView(new ArrayBuffer(infoBytes)),
    resultPointer = ptr(result)
  const length = new Uint32Array(1),
    lengthPointer = ptr(length)
  const info = (socket: number): DataView | undefined => {
    length[0] = infoBytes
    return getsockopt(socket, tcpLevel, tcpInfo, resultPointer, lengthPointer) === 0 ? result : undefined
  }
  const portOf = (address: typeof getsockname, socket: number): number | undefined => {
    length[0] = infoBytes
    return address(socket, resultPointer, lengthPointer) === 0 ? result.getUint16(portAt) : undefined
  }
  const is = (socket: number, port: number, state: keyof typeof socketStates): boolean =>
    info(socket)?.getUint8(0) === socketStates[state] && portOf(getsockname, socket) === port
  return {
    is,
    find: (port, state) =>
      readdirSync('/proc/self/fd')
        .map(Number)
        .filter((descriptor) => is(descriptor, port, state)),
    waiting: (socket) => info(socket)?.getUint32(waitingAt, true) ?? 0,
    peerPort: (socket) => portOf(getpeername, socket),
    isQuiet(socket, quietMs) {
      const state = info(socket)
      if (state === undefined || state.getUint32(unconfirmedAt, true) > 0 || state.getUint32(unsentAt, true) > 0)
        return false
      if (Math.min(state.getUint32(sentAt, true), state.getUint32(receivedAt, true)) < quietMs) return false
      return Number(recv(socket, resultPointer, 1, lookOnly)) < 0
    },
    endSending: (socket) => shutdown(socket, sending) === 0,
    replace: (socket, by) => dup3(by, socket, closeOnExec) === socket,
  }
}
