/** A growable buffer. */
export interface GrowingBytes {
  /** Bytes added so far. */
  readonly length: number
  /** Capacity, in bytes, after another piece of `pieceBytes` bytes is added. */
  capacityWith(pieceBytes: number): number
  /** Adds a piece and takes ownership of it: the caller must not use it afterwards. */
  add(piece: Uint8Array<ArrayBuffer>): void
  /** Adds a copy of `[start, end)` of the bytes, which stay usable. */
  append(bytes: Uint8Array, start: number, end: number): void
  /** Reduces the capacity to the content. */
  trim(): void
  /** A view of all bytes added so far. */
  whole(): Uint8Array<ArrayBuffer>
  /** Returns all bytes added so far and starts again with an empty buffer. */
  take(): Uint8Array<ArrayBuffer>
  /** Frees the memory at once, without waiting for garbage collection. Nothing may be added afterwards. */
  free(): void
}

/** Buffers smaller than this are left to the garbage collector. */
const freeBytesMin = 4 * 1024
/** Up to this length a loop copies faster than `set`. */
const loopBytesMax = 15

/**
 * Makes an empty buffer. Capacity is at most twice the content (or 512 bytes) and at most `bytesMax`, so a large
 * Content-Length alone allocates nothing. A body that is added in one piece is not copied. Growing and trimming hold
 * the old memory beside the new, up to three times the content, until the copy is made.
 */
export function growingBytes(bytesMax = Number.POSITIVE_INFINITY): GrowingBytes {
  let memory = empty
  let length = 0

  function capacityWith(pieceBytes: number): number {
    const needed = length + pieceBytes
    return needed <= memory.length
      ? memory.length
      : Math.max(needed, Math.min(bytesMax, Math.max(capacityMin, needed * 2)))
  }

  function moveTo(capacity: number): void {
    const moved = Buffer.allocUnsafeSlow(capacity)
    moved.set(memory.subarray(0, length))
    freeBytes(memory)
    memory = moved
  }

  function reserve(pieceBytes: number): void {
    const capacity = capacityWith(pieceBytes)
    if (capacity > memory.length) moveTo(capacity)
  }

  return {
    get length() {
      return length
    },
    capacityWith,
    add(piece) {
      const added = piece.length
      if (length === 0 && capacityWith(added) === added) memory = piece
      else {
        reserve(added)
        memory.set(piece, length)
        freeBytes(piece)
      }
      length += added
    },
    append(bytes, start, end) {
      reserve(end - start)
      if (end - start <= loopBytesMax)
        for (let index = start; index < end; index++) memory[length++] = bytes[index] ?? 0
      else {
        memory.set(bytes.subarray(start, end), length)
        length += end - start
      }
    },
    trim() {
      if (memory.length > length) moveTo(length)
    },
    whole: () => memory.subarray(0, length),
    take() {
      const taken = memory.subarray(0, length)
      memory = empty
      length = 0
      return taken
    },
    free() {
      freeBytes(memory)
      memory = empty
      length = 0
    },
  }
}

/**
 * Frees the memory of these bytes at once, since the garbage collector underestimates it. Views of a larger buffer,
 * which may be shared, are left alone.
 */
export function freeBytes(bytes: Uint8Array<ArrayBuffer>): void {
  if (bytes.length < freeBytesMin || bytes.length !== bytes.buffer.byteLength) return
  bytes.buffer.transfer(0) // Transferring to a buffer of length 0 frees the old one.
}

const capacityMin = 512
const empty = new Uint8Array(0)
