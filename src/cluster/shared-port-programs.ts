import type { SocketPosition } from './socket-order.ts'

/** One instruction of a classic BPF program (linux/filter.h). `ifTrue` and `ifFalse` are jumps of comparisons. */
export interface Step {
  readonly code: number
  readonly ifTrue?: number
  readonly ifFalse?: number
  readonly operand?: number
}

const loadWord = 0x20,
  loadByte = 0x30,
  loadConstant = 0x00,
  modulo = 0x94,
  and = 0x54,
  jumpIfEqual = 0x15,
  returnLoaded = 0x16,
  returnConstant = 0x06
/** Address of a random number (SKF_AD_OFF + SKF_AD_RANDOM). */
const randomNumber = 0xfffff038
/** Offset of the flags in a TCP header (RFC 9293 section 3.1). */
const flagsAt = 13
const syn = 0x02,
  ack = 0x10

/** Chooses a random socket of the port except one. Where the exception would be chosen, the last socket is. */
export function allBut({ index, count }: SocketPosition): readonly Step[] {
  return [
    { code: loadWord, operand: randomNumber },
    { code: modulo, operand: count - 1 },
    { code: jumpIfEqual, operand: index, ifFalse: 1 },
    { code: loadConstant, operand: count - 1 },
    { code: returnLoaded },
  ]
}

/** Drops the packets that open a connection. Clients try again a second later. */
export const noNewConnection: readonly Step[] = [
  { code: loadByte, operand: flagsAt },
  { code: and, operand: syn | ack },
  { code: jumpIfEqual, operand: syn, ifFalse: 1 },
  { code: returnConstant, operand: 0 },
  { code: returnConstant, operand: 0xffff_ffff },
]

const stepBytes = 8

/** Encodes a program as an array of `struct sock_filter`. */
export function encodeProgram(program: readonly Step[]): Uint8Array {
  const bytes = new Uint8Array(program.length * stepBytes)
  const view = new DataView(bytes.buffer)
  for (const [index, { code, ifTrue = 0, ifFalse = 0, operand = 0 }] of program.entries()) {
    const at = index * stepBytes
    view.setUint16(at, code, true)
    view.setUint8(at + 2, ifTrue)
    view.setUint8(at + 3, ifFalse)
    view.setUint32(at + 4, operand, true)
  }
  return bytes
}
