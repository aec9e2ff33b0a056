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
  return new GrowableBuffer(bytesMax)
}

/** A class, since every stream has two: closures would take more memory. */
class GrowableBuffer implements GrowingBytes {
  readonly #bytesMax: number
  #memory = empty
  #length = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get length(): number {
    return this.#length
  }

  capacityWith(pieceBytes: number): number {
    const needed = this.#length + pieceBytes
    return needed <= this.#memory.length
      ? this.#memory.length
      : Math.max(needed, Math.min(this.#bytesMax, Math.max(capacityMin, needed * 2)))
  }

  add(piece: Uint8Array<ArrayBuffer>): void {
    const added = piece.length
    if (this.#length === 0 && this.capacityWith(added) === added) this.#memory = piece
    else {
      this.#reserve(added)
      this.#memory.set(piece, this.#length)
      freeBytes(piece)
    }
    this.#length += added
  }

  append(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start)
    if (end - start <= loopBytesMax)
      for (let index = start; index < end; index++) this.#memory[this.#length++] = bytes[index] ?? 0
    else {
      this.#memory.set(bytes.subarray(start, end), this.#length)
      this.#length += end - start
    }
  }

  trim(): void {
    if (this.#memory.length > this.#length) this.#moveTo(this.#length)
  }

  whole(): Uint8Array<ArrayBuffer> {
    return this.#memory.subarray(0, this.#length)
  }

  take(): Uint8Array<ArrayBuffer> {
    const taken = this.whole()
    this.#memory = empty
    this.#length = 0
    return taken
  }

  free(): void {
    freeBytes(this.#memory)
    this.#memory = empty
    this.#length = 0
  }

  #moveTo(capacity: number): void {
    const moved = Buffer.allocUnsafeSlow(capacity)
    moved.set(this.whole())
    freeBytes(this.#memory)
    this.#memory = moved
  }

  #reserve(pieceBytes: number): void {
    const capacity = this.capacityWith(pieceBytes)
    if (capacity > this.#memory.length) this.#moveTo(capacity)
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
