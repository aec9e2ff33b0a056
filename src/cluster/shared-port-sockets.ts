import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A row of the kernel's table of TCP sockets. */
export interface SocketRow {
  readonly port: number
  readonly state: number
  /** 0 for one that no process holds. */
  readonly inode: number
}

/** State of a socket that listens, in the kernel's table. */
export const listening = 0x0a
/** Of a connection that both sides may use. */
export const established = 0x01

/** Reads the text of `/proc/net/tcp` or `/proc/net/tcp6`. Lines of another shape are left out. */
export function parseSocketTable(text: string): readonly SocketRow[] {
  return text.split('\n').flatMap((line) => {
    const [, , port, state, inode] = /^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ ([0-9A-F]{2}) (?:\S+ ){3}\s*\d+\s+\d+ (\d+) /.exec(line) ?? []
    return port === undefined || state === undefined || inode === undefined ? [] : [{ port: Number.parseInt(port, 16), state: Number.parseInt(state, 16), inode: Number(inode) }]
  })
}

/** The descriptors of this process whose socket has that local port and that state. @throws where there is no `/proc` */
export function ownSockets(port: number, state: number): readonly number[] {
  const inodes = new Set(['tcp', 'tcp6'].flatMap((table) => parseSocketTable(readTable(table)))
    .filter((row) => row.port === port && row.state === state).map((row) => `socket:[${row.inode}]`))
  if (inodes.size === 0) return []
  return readdirSync('/proc/self/fd').filter((descriptor) => inodes.has(target(descriptor))).map(Number)
}

function readTable(name: string): string {
  try {
    return readFileSync(`/proc/self/net/${name}`, 'latin1')
  } catch (error) {
    if (name === 'tcp6') return '' // This machine has no IPv6.
    throw error
  }
}

function target(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return '' // It was closed while we looked.
  }
}
