/** Bytes that come piece by piece, in memory that grows with them. */
export interface GrowingBytes {
  /** Those that have come. */
  readonly length: number
  /** Bytes of memory it will all take with another piece of so many. */
  sizeWith(pieceBytes: number): number
  /** Takes a piece over: its memory is gone afterwards. */
  add(piece: Uint8Array<ArrayBuffer>): void
  /** Gives up the memory beyond what has come. */
  trim(): void
  /** All that have come. */
  whole(): Uint8Array<ArrayBuffer>
  /** Gives up all memory, now and not when the collector comes by. Nothing may be added afterwards. */
  letGo(): void
}

/** Smaller pieces are not worth letting go of. */
const smallest = 4 * 1024

/**
 * Holds at most twice what has come, or 4 KiB, and never more than `bytesMost`: who announces much and sends little
 * makes it hold little. What comes in one piece is not copied; otherwise pieces are let go of as they are copied. Only
 * while it grows, or is trimmed, it holds the old memory beside the new: up to three times what has come, for one body
 * of the process at a time.
 */
export function growingBytes(bytesMost: number): GrowingBytes {
  let memory = new Uint8Array(0)
  let length = 0

  function sizeWith(pieceBytes: number): number {
    const needed = length + pieceBytes
    return needed <= memory.length
      ? memory.length
      : Math.max(needed, Math.min(bytesMost, Math.max(smallest, needed * 2)))
  }

  function moveTo(size: number): void {
    const larger = Buffer.allocUnsafeSlow(size)
    larger.set(memory.subarray(0, length))
    letGoOf(memory)
    memory = larger
  }

  return {
    get length() {
      return length
    },
    sizeWith,
    add(piece) {
      const added = piece.length
      const size = sizeWith(added)
      if (length === 0 && size === added) memory = piece
      else {
        if (size > memory.length) moveTo(size)
        memory.set(piece, length)
        letGoOf(piece)
      }
      length += added
    },
    trim() {
      if (memory.length > length) moveTo(length)
    },
    whole: () => memory.subarray(0, length),
    letGo() {
      letGoOf(memory)
      memory = new Uint8Array(0)
      length = 0
    },
  }
}

/**
 * Frees them now and not when the collector comes by: it knows little of the memory of pieces. What others may see too
 * is left alone.
 */
export function letGoOf(bytes: Uint8Array<ArrayBuffer>): void {
  if (bytes.length >= smallest && bytes.length === bytes.buffer.byteLength) bytes.buffer.transfer(0) // Moving what is in a buffer elsewhere is what frees it.
}
