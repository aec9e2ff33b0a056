import type { PlaceInGroup } from './shared-port-order.ts'

/**
 * One step of a classic BPF program (linux/filter.h): what it does, how far it jumps when a comparison holds or not,
 * its operand.
 */
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
/** Where the kernel offers a random number (SKF_AD_OFF + SKF_AD_RANDOM). */
const randomNumber = 0xfffff038
/** Where the flags stand in a TCP header (RFC 9293 section 3.1). */
const flagsAt = 13
const syn = 0x02,
  ack = 0x10

/** Chooses by chance among all sockets of the group but one. The last one answers for the one that is left out. */
export function allBut({ place, of }: PlaceInGroup): readonly Step[] {
  return [
    { code: loadWord, operand: randomNumber },
    { code: modulo, operand: of - 1 },
    { code: jumpIfEqual, operand: place, ifFalse: 1 },
    { code: loadConstant, operand: of - 1 },
    { code: returnLoaded },
  ]
}

/**
 * Lets everything through but what opens a connection. Who opened one that was not let through tries again a second
 * later.
 */
export const noNewConnection: readonly Step[] = [
  { code: loadByte, operand: flagsAt },
  { code: and, operand: syn | ack },
  { code: jumpIfEqual, operand: syn, ifFalse: 1 },
  { code: returnConstant, operand: 0 },
  { code: returnConstant, operand: 0xffff_ffff },
]

const stepBytes = 8

/** A program as the kernel reads it: an array of `struct sock_filter`. */
export function encode(program: readonly Step[]): Uint8Array {
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
