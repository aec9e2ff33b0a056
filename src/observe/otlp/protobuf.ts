/** Wire types of Protocol Buffers. */
const varintType = 0,
  fixed64Type = 1,
  bytesType = 2,
  fixed32Type = 5
/** Up to so many bytes or letters a loop takes less time than the runtime's functions. */
const shortMax = 48
const twoTo32 = 2 ** 32
/** Values of hexadecimal digits, by their codes. */
const nibbles = Uint8Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0)

/** Writes Protocol Buffers into one growing buffer. Field numbers are at most 2,047. */
export class ProtobufWriter {
  #bytes: Buffer
  #view: DataView
  #length = 0

  constructor(capacity = 64 * 1024) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity)
    this.#view = new DataView(this.#bytes.buffer)
  }

  get length(): number {
    return this.#length
  }

  /** Returns a copy of what was written, and begins anew. */
  take(): Uint8Array {
    const taken = Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length)
    this.#length = 0
    return taken
  }

  /** Forgets what was written behind this length. */
  truncate(length: number): void {
    this.#length = length
  }

  /** A number from 0 to 2⁵³, or a boolean as 0 or 1. */
  varint(field: number, value: number): void {
    this.#tag(field, varintType)
    this.#varint(value)
  }

  /** A 64-bit number of nanoseconds from milliseconds, to a quarter of a microsecond. */
  nanoseconds(field: number, ms: number): void {
    const ns = Math.round(ms * 1e6)
    this.fixed64(field, ns)
  }

  /** A whole number from 0, in eight bytes. */
  fixed64(field: number, value: number): void {
    this.#tag(field, fixed64Type)
    this.#fixed64(value)
  }

  fixed32(field: number, value: number): void {
    this.#tag(field, fixed32Type)
    this.#ensure(4)
    this.#view.setUint32(this.#length, value, true)
    this.#length += 4
  }

  double(field: number, value: number): void {
    this.#tag(field, fixed64Type)
    this.#double(value)
  }

  /** Packed doubles. */
  doubles(field: number, values: readonly number[]): void {
    this.#tag(field, bytesType)
    this.#varint(values.length * 8)
    for (const value of values) this.#double(value)
  }

  /** Packed whole numbers from 0, of eight bytes each. */
  counts(field: number, values: Iterable<number> & { readonly length: number }): void {
    this.#tag(field, bytesType)
    this.#varint(values.length * 8)
    for (const value of values) this.#fixed64(value)
  }

  text(field: number, text: string): void {
    this.#tag(field, bytesType)
    const { length } = text
    if (length > shortMax || !this.#ascii(text)) {
      const start = this.#reserve()
      this.#ensure(length * 3)
      this.#length += this.#bytes.write(text, this.#length, 'utf8')
      this.#close(start)
    }
  }

  /** Bytes from hexadecimal digits. */
  hex(field: number, digits: string): void {
    this.#tag(field, bytesType)
    const length = digits.length / 2
    this.#varint(length)
    this.#ensure(length)
    for (let index = 0; index < digits.length; index += 2)
      this.#bytes[this.#length++] =
        ((nibbles[digits.charCodeAt(index)] ?? 0) << 4) | (nibbles[digits.charCodeAt(index + 1)] ?? 0)
  }

  /** Bytes that were written before. */
  raw(bytes: Uint8Array): void {
    const { length } = bytes
    this.#ensure(length)
    // For few bytes a loop takes less time.
    if (length > shortMax) this.#bytes.set(bytes, this.#length)
    else for (let index = 0; index < length; index++) this.#bytes[this.#length + index] = bytes[index] ?? 0
    this.#length += length
  }

  /** Begins bytes of a known length, which are written elsewhere. */
  header(field: number, length: number): void {
    this.#tag(field, bytesType)
    this.#varint(length)
  }

  /** Begins a message within this one. @returns for {@link end} */
  begin(field: number): number {
    this.#tag(field, bytesType)
    return this.#reserve()
  }

  end(start: number): void {
    this.#close(start)
  }

  #ascii(text: string): boolean {
    const { length } = text
    this.#ensure(length + 1)
    const bytes = this.#bytes
    const start = this.#length
    bytes[start] = length
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return false
      bytes[start + 1 + index] = code
    }
    this.#length = start + 1 + length
    return true
  }

  #tag(field: number, type: number): void {
    const tag = (field << 3) | type
    this.#ensure(2)
    if (tag < 0x80) this.#bytes[this.#length++] = tag
    else {
      this.#bytes[this.#length++] = (tag & 0x7f) | 0x80
      this.#bytes[this.#length++] = tag >> 7
    }
  }

  /** Reserves a byte for the length of what follows. */
  #reserve(): number {
    this.#ensure(1)
    this.#length += 1
    return this.#length
  }

  /** Writes the length of what was written since `start`, which moves if its length takes more than a byte. */
  #close(start: number): void {
    const length = this.#length - start
    if (length < 0x80) {
      this.#bytes[start - 1] = length
      return
    }
    const more = length < 0x4000 ? 1 : length < 0x200000 ? 2 : 3
    this.#ensure(more)
    this.#bytes.copyWithin(start + more, start, this.#length)
    this.#length = start - 1
    this.#varint(length)
    this.#length += length
  }

  #varint(value: number): void {
    this.#ensure(10)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  #fixed64(value: number): void {
    this.#ensure(8)
    const high = Math.floor(value / twoTo32)
    this.#view.setUint32(this.#length, value - high * twoTo32, true)
    this.#view.setUint32(this.#length + 4, high, true)
    this.#length += 8
  }

  #double(value: number): void {
    this.#ensure(8)
    this.#view.setFloat64(this.#length, value, true)
    this.#length += 8
  }

  #ensure(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const bytes = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    bytes.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }
}

/** A field of a message: its number, and its value if that is a number or bytes. */
interface ProtobufField {
  readonly field: number
  readonly value: number | Uint8Array
}

/** The fields of a message, until one cannot be read. Numbers above 2⁵³ are not exact. */
export function* readProtobuf(bytes: Uint8Array): Generator<ProtobufField> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let position = 0

  function varint(): number | undefined {
    let value = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[position++]
      if (byte === undefined) return undefined
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    return undefined
  }

  while (position < bytes.length) {
    const tag = varint()
    if (tag === undefined) return
    const field = Math.floor(tag / 8)
    const type = tag % 8
    const width = type === fixed64Type ? 8 : type === fixed32Type ? 4 : type === bytesType ? varint() : 0
    if (width === undefined || position + width > bytes.length) return
    if (type === varintType) {
      const value = varint()
      if (value === undefined) return
      yield { field, value }
    } else if (type === bytesType) yield { field, value: bytes.subarray(position, position + width) }
    else if (type === fixed64Type) yield { field, value: view.getFloat64(position, true) }
    else if (type !== fixed32Type) return
    position += width
  }
}
