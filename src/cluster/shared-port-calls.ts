import { dlopen, ptr } from 'bun:ffi'
import { readdirSync } from 'node:fs'
import { encode, type Step } from './shared-port-programs.ts'

// asm-generic/socket.h, linux/tcp.h: the same on every processor that Bun runs on.
const socketLevel = 1,
  attachFilter = 26,
  attachSpread = 51,
  detachSpread = 68
const tcpLevel = 6,
  tcpInfo = 11
/** Where `struct tcp_info` of a listening socket tells how many connections wait in it (tcpi_unacked). */
const waitingAt = 24
/** Where a socket's address, of either family, holds its port, in the order of the network. */
const portAt = 2
/**
 * Where `struct tcp_info` tells how many segments the other side has not confirmed, and how many bytes were not sent
 * yet (tcpi_unacked, tcpi_notsent_bytes).
 */
const unconfirmedAt = 24,
  unsentAt = 144
/** Where it tells how many milliseconds ago data was sent and received last (tcpi_last_data_sent, tcpi_last_data_recv). */
const sentAt = 44,
  receivedAt = 52
/** Of what the kernel tells of a socket, more than this is of no interest. */
const toldBytesMost = 160
/** asm-generic: `MSG_PEEK | MSG_DONTWAIT`, and `SHUT_WR`. */
const lookOnly = 0x42,
  sending = 1
/** Of `struct sock_fprog`. */
const headerBytes = 16
const closeOnExec = 0x80000

/** What a TCP socket does (tcp_states.h). */
export const socketStates = { established: 1, listening: 10 } as const

/**
 * What is asked of the kernel about sockets of this process, by descriptor. Those that say nothing else say whether it
 * was done.
 */
export interface SocketCalls {
  /**
   * Those with that local port and in that state. Looks at every descriptor: 3 µs each. @throws when none is free to
   * look
   */
  find(port: number, state: keyof typeof socketStates): readonly number[]
  /** Whether that descriptor is a socket with that local port and in that state. */
  is(socket: number, port: number, state: keyof typeof socketStates): boolean
  /** Has the program choose the socket, by its place, for every newcomer to the port. */
  spread(socket: number, program: readonly Step[]): boolean
  /** Ends that: the kernel chooses again. */
  spreadOverAll(socket: number): boolean
  /** Lets in what the program lets in. */
  filter(socket: number, program: readonly Step[]): boolean
  /** How many connections wait to be taken in. */
  waiting(socket: number): number
  /** The port of the other side. */
  peerPort(socket: number): number | undefined
  /**
   * Whether no data went either way for so long, nothing has come that was not read, and the other side has all that
   * was sent.
   */
  isQuiet(socket: number, quietMs: number): boolean
  /** Tells the other side that nothing more will be sent. */
  endSending(socket: number): boolean
  /** Makes the descriptor mean what another means. What it meant is closed. */
  replace(socket: number, by: number): boolean
}

/** Calls the C library; musl answers to the name of glibc's too. @throws when it cannot be had */
export function socketCalls(): SocketCalls {
  const {
    symbols: { setsockopt, getsockopt, getsockname, getpeername, recv, shutdown, dup3 },
  } = dlopen('libc.so.6', {
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    getpeername: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    recv: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
    shutdown: { args: ['i32', 'i32'], returns: 'i32' },
    dup3: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  })
  const set = (socket: number, level: number, option: number, value: Uint8Array): boolean =>
    setsockopt(socket, level, option, ptr(value), value.length) === 0
  const setProgram = (socket: number, option: number, program: readonly Step[]): boolean => {
    const steps = encode(program)
    const whole = new Uint8Array(headerBytes + steps.length)
    whole.set(steps, headerBytes)
    const header = new DataView(whole.buffer) // struct sock_fprog: how many steps, and where they are
    header.setUint16(0, program.length, true)
    header.setBigUint64(8, BigInt(ptr(whole, headerBytes)), true)
    return set(socket, socketLevel, option, whole.subarray(0, headerBytes))
  }
  const told = new DataView(new ArrayBuffer(toldBytesMost)),
    toldPointer = ptr(told)
  const length = new Uint32Array(1),
    lengthPointer = ptr(length)
  const info = (socket: number): DataView | undefined => {
    length[0] = toldBytesMost
    return getsockopt(socket, tcpLevel, tcpInfo, toldPointer, lengthPointer) === 0 ? told : undefined
  }
  const portOf = (address: typeof getsockname, socket: number): number | undefined => {
    length[0] = toldBytesMost
    return address(socket, toldPointer, lengthPointer) === 0 ? told.getUint16(portAt) : undefined
  }
  const is = (socket: number, port: number, state: keyof typeof socketStates): boolean =>
    info(socket)?.getUint8(0) === socketStates[state] && portOf(getsockname, socket) === port
  return {
    is,
    find: (port, state) =>
      readdirSync('/proc/self/fd')
        .map(Number)
        .filter((descriptor) => is(descriptor, port, state)),
    spread: (socket, program) => setProgram(socket, attachSpread, program),
    spreadOverAll: (socket) => set(socket, socketLevel, detachSpread, new Uint8Array(4)),
    filter: (socket, program) => setProgram(socket, attachFilter, program),
    waiting: (socket) => info(socket)?.getUint32(waitingAt, true) ?? 0,
    peerPort: (socket) => portOf(getpeername, socket),
    isQuiet(socket, quietMs) {
      const state = info(socket)
      if (state === undefined || state.getUint32(unconfirmedAt, true) > 0 || state.getUint32(unsentAt, true) > 0)
        return false
      if (Math.min(state.getUint32(sentAt, true), state.getUint32(receivedAt, true)) < quietMs) return false
      return Number(recv(socket, toldPointer, 1, lookOnly)) < 0
    },
    endSending: (socket) => shutdown(socket, sending) === 0,
    replace: (socket, by) => dup3(by, socket, closeOnExec) === socket,
  }
}
