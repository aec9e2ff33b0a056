import { isUtf8 } from 'node:buffer'
import { encode, latin1, utf8 } from './text.ts'

/*
 * JSON where it lies. The cursor walks bytes without making values, for large bodies, for places of members, and for
 * splices (`splice.ts`); small values are read by `JSON.parse`. Long walks pause (`pace.ts`), so that other requests
 * run in between. Beside it: server-sent events (`event-stream.ts`), forms (`multipart.ts`), buffers (`growing-
 * bytes.ts`).
 */

/** The bytes are not valid JSON (RFC 8259). */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  /** The fault, such as `nested too deeply`. Never quotes the input. */
  readonly reason: string
  /** Offset of the byte at fault. */
  readonly position: number

  constructor(reason: string, position: number) {
    super(`${reason} at byte ${position}`)
    this.reason = reason
    this.position = position
  }
}

/** The type of a value. */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/**
 * Names that are recognised without decoding them, by their length in bytes. Most tables are never used: each is filled
 * when a name is first looked for.
 */
export class NameTable {
  private readonly names: readonly string[]
  private byLength: readonly (readonly NameEntry[] | undefined)[] | undefined

  constructor(names: readonly string[]) {
    this.names = names
  }

  /** The names of this length; undefined or empty: there is none. */
  ofLength(length: number): readonly NameEntry[] | undefined {
    return (this.byLength ??= entriesByLength(this.names))[length]
  }
}

interface NameEntry {
  readonly bytes: Uint8Array
  readonly code: number
}

/** Most levels of nested arrays and objects. */
export const depthMax = 512

/** Strings up to this long are passed byte by byte. */
const shortStringBytes = 48
/** In longer strings, bytes passed one by one before four at a time are tried again. */
const runAfterBytes = 48
/** Shorter rests are passed byte by byte. */
const runBytesMin = 32
/** Smaller inputs are passed byte by byte: they do not repay the view of four bytes at a time. */
const viewBytesMin = 2048

const numberBytesMax = 1024
/** Integers of up to 15 digits are exact. */
const exactDigits = 15

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** A table for `JsonCursor.nameCode`, which returns a name's index in `names`: ASCII, at most 63 characters each. */
export function nameTable(names: readonly string[]): NameTable {
  return new NameTable(names)
}

function entriesByLength(names: readonly string[]): readonly (readonly NameEntry[])[] {
  const table = noNames.slice()
  for (const [code, name] of names.entries()) {
    const entry = { bytes: encode(name), code }
    if (name.length < table.length) table[name.length] = [...(table[name.length] ?? []), entry]
  }
  return table
}

/** Shared by all tables, of which there are many, for lengths that no name has. */
const noEntries: readonly NameEntry[] = []
const noNames: readonly (readonly NameEntry[])[] = Array.from({ length: 64 }, () => noEntries)

/**
 * Walks over JSON in UTF-8 bytes and checks its syntax (RFC 8259), without building values. The bytes are valid JSON
 * once `finish` returns, which also checks UTF-8. Every method throws JsonSyntaxError at the first byte that the
 * grammar does not allow.
 *
 *     cursor.peek() === 'object'
 *     for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
 *       cursor.nameCode(table)
 *       cursor.skip()
 *     }
 *     cursor.finish()
 */
export class JsonCursor {
  readonly bytes: Uint8Array
  /** Offset of the next byte to read. */
  position = 0
  /** Offset of the opening quote of the member's name last entered. */
  nameStart = 0
  /** Offset after the closing quote of the member's name last entered. */
  nameEnd = 0
  /** A raw CR or LF was found between tokens. */
  hasLineBreaks = false
  /** The string last passed has neither escapes nor bytes above 0x7f. */
  isPlain = true

  /** As `isPlain`, for the name last entered. */
  private isNamePlain = true
  private depth = 0
  private seen = 0
  private skipState = NEXT_VALUE
  private skipDepth = 0
  private containers: Uint8Array | undefined
  private words: Uint32Array | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** Returns the type of the next value and moves to its first byte. */
  peek(): JsonKind {
    const position = this.nextToken(this.position)
    this.position = position
    switch (this.bytes[position]) {
      case QUOTE:
        return 'string'
      case OPEN_OBJECT:
        return 'object'
      case OPEN_ARRAY:
        return 'array'
      case 0x6e:
        return 'null'
      case 0x74:
      case 0x66:
        return 'boolean'
      case 0x2d:
      case 0x30:
      case 0x31:
      case 0x32:
      case 0x33:
      case 0x34:
      case 0x35:
      case 0x36:
      case 0x37:
      case 0x38:
      case 0x39:
        return 'number'
      default:
        return this.fail(position)
    }
  }

  /** Enters the object that `peek` saw and moves to its first member's value. Passes an empty object: returns false. */
  firstMember(): boolean {
    this.enter()
    const position = this.nextToken(this.position + 1)
    if (this.bytes[position] === CLOSE_OBJECT) return this.leave(position)
    return this.enterMember(position)
  }

  /**
   * Continues inside an object at a member's value, whose offset is `position`. The bytes before it must have been
   * walked in another input with the same beginning, without `hasHighBytes`.
   */
  resume(position: number): void {
    this.depth = 1
    this.position = position
  }

  /** Moves from the end of a member's value to the value of the next; false when the object has ended. */
  nextMember(): boolean {
    const position = this.nextToken(this.position)
    const byte = this.bytes[position]
    if (byte === COMMA) return this.enterMember(this.nextToken(position + 1))
    if (byte === CLOSE_OBJECT) return this.leave(position)
    return this.fail(position)
  }

  /** Enters the array that `peek` saw and moves to its first element. Passes an empty array: returns false. */
  firstElement(): boolean {
    this.enter()
    const position = this.nextToken(this.position + 1)
    if (this.bytes[position] === CLOSE_ARRAY) return this.leave(position)
    this.position = position
    return true
  }

  /** Moves from the end of an element to the next; false when the array has ended. */
  nextElement(): boolean {
    const position = this.nextToken(this.position)
    const byte = this.bytes[position]
    if (byte === COMMA) {
      this.position = this.nextToken(position + 1)
      return true
    }
    if (byte === CLOSE_ARRAY) return this.leave(position)
    return this.fail(position)
  }

  /**
   * The index of the name last entered in the names of `table`, or -1. A name with escapes is decoded first. In a set
   * of bits `1 << code`, all names that are not in the table share bit 31.
   */
  nameCode(table: NameTable): number {
    const code = this.plainCode(table, this.nameStart, this.nameEnd)
    return code !== -1 || this.isNamePlain ? code : this.escapedCode(table, this.nameStart, this.nameEnd)
  }

  /** As `nameCode`, for any passed string; `start` and `end` as for `stringAt`. */
  stringCode(table: NameTable, start: number, end: number): number {
    const code = this.plainCode(table, start, end)
    return code !== -1 ? code : this.escapedCode(table, start, end)
  }

  private plainCode(table: NameTable, start: number, end: number): number {
    const bytes = this.bytes
    const length = end - start - 2
    const candidates = table.ofLength(length)
    if (candidates !== undefined) {
      for (let index = 0; index < candidates.length; index++) {
        const candidate = candidates[index]
        if (candidate !== undefined && isAt(bytes, start + 1, candidate.bytes)) return candidate.code
      }
    }
    return -1
  }

  private escapedCode(table: NameTable, start: number, end: number): number {
    return this.hasEscape(start, end) ? this.decodedCode(table, start, end) : -1
  }

  /** The name last entered, decoded. */
  name(): string {
    return this.stringAt(this.nameStart, this.nameEnd)
  }

  /**
   * Passes the next value without recursion. With a `limit` it stops soon after that offset and returns false; call it
   * again to continue. Returns true when the value has been passed.
   */
  skip(limit = Infinity): boolean {
    if (this.skipState !== NEXT_VALUE) return this.skipOn(limit)
    const position = this.nextToken(this.position)
    const byte = this.bytes[position]
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      this.position = position
      return this.skipOn(limit)
    }
    const end = byte === QUOTE ? this.passString(position + 1, limit) : this.passScalar(position)
    if (end < 0) {
      this.position = -end
      this.skipState = IN_STRING
      return false
    }
    this.position = end
    return true
  }

  private skipOn(limit: number): boolean {
    const bytes = this.bytes
    let state = this.skipState
    let position = this.position
    for (;;) {
      if (state === NEXT_VALUE) {
        position = this.nextToken(position)
        switch (bytes[position]) {
          case QUOTE:
            position++
            state = IN_STRING
            break
          case OPEN_OBJECT:
            this.push(OPEN_OBJECT, position)
            position = this.nextToken(position + 1)
            if (bytes[position] === CLOSE_OBJECT) {
              this.skipDepth--
              position++
              state = AFTER_VALUE
            } else position = this.passName(position)
            continue
          case OPEN_ARRAY:
            this.push(OPEN_ARRAY, position)
            position = this.nextToken(position + 1)
            if (bytes[position] === CLOSE_ARRAY) {
              this.skipDepth--
              position++
              state = AFTER_VALUE
            }
            continue
          default:
            position = this.passScalar(position)
            state = AFTER_VALUE
        }
      }
      if (state === IN_STRING) {
        position = this.passString(position, limit)
        if (position < 0) {
          this.position = -position
          this.skipState = IN_STRING
          return false
        }
        state = AFTER_VALUE
      }
      if (this.skipDepth === 0) {
        this.position = position
        this.skipState = NEXT_VALUE
        return true
      }
      if (position >= limit) {
        this.position = position
        this.skipState = AFTER_VALUE
        return false
      }
      position = this.nextToken(position)
      const byte = bytes[position]
      const isObject = this.containers?.[this.skipDepth] === OPEN_OBJECT
      if (byte === COMMA) {
        position = isObject ? this.passName(this.nextToken(position + 1)) : position + 1
        state = NEXT_VALUE
      } else if (byte === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        this.skipDepth--
        position++
        state = AFTER_VALUE
      } else this.fail(position)
    }
  }

  /** Passes the next value; false for `null`, `false`, and an empty string, array or object. */
  isFilled(): boolean {
    const kind = this.peek()
    const start = this.position
    if (kind === 'boolean') return this.boolean()
    this.skip()
    return kind === 'number' || (kind !== 'null' && this.position - start > 2)
  }

  /**
   * Passes the number that `peek` saw and returns it as a JavaScript number; NaN when it is longer than 1,024 bytes.
   */
  number(): number {
    const start = this.position
    const end = this.passNumber(start)
    this.position = end
    if (end - start === 1) return (this.bytes[start] ?? 0x30) - 0x30
    if (end - start <= exactDigits) {
      const integer = this.integerAt(start, end)
      if (integer !== -1) return integer
    }
    return end - start <= numberBytesMax ? Number(latin1(this.bytes, start, end)) : NaN
  }

  /** The value of decimal digits; -1 when there are other bytes among them. */
  private integerAt(start: number, end: number): number {
    let value = 0
    for (let position = start; position < end; position++) {
      const digit = (this.bytes[position] ?? 0) - 0x30
      if (digit < 0 || digit > 9) return -1
      value = value * 10 + digit
    }
    return value
  }

  /** Passes the next value if it is null. */
  skipNull(): boolean {
    const position = this.nextToken(this.position)
    if (this.bytes[position] !== 0x6e) return false
    this.position = this.passWord(position, 0x75, 0x6c, 0x6c)
    return true
  }

  /** Passes the boolean that `peek` saw. */
  boolean(): boolean {
    const isTrue = this.bytes[this.position] === 0x74
    this.skip()
    return isTrue
  }

  /** Passes the string that `peek` saw and decodes it. */
  string(): string {
    const start = this.position
    this.position = this.passString(start + 1, Infinity)
    return this.isPlain ? latin1(this.bytes, start + 1, this.position - 1) : this.stringAt(start, this.position)
  }

  /** Decodes a passed string, given the offsets of its opening quote and after its closing quote. */
  stringAt(start: number, end: number): string {
    const text = utf8(this.bytes, start + 1, end - 1)
    if (!text.includes('\\')) return text
    const decoded: unknown = JSON.parse(`"${text}"`)
    return typeof decoded === 'string' ? decoded : ''
  }

  /** Whether any string so far contains a byte above 0x7f. */
  get hasHighBytes(): boolean {
    return this.seen > 0x7f
  }

  /** Checks that only white space follows the value, and that all bytes are UTF-8. */
  finish(): void {
    this.end()
    if (this.seen > 0x7f && !isUtf8(this.bytes)) throw invalidUtf8(this.bytes, 0, this.bytes.length)
  }

  /** Checks that only white space follows. Does not check UTF-8. */
  end(): void {
    const position = this.passSpace(this.position)
    this.position = position
    if (position < this.bytes.length) this.fail(position)
  }

  private passSpace(from: number): number {
    const bytes = this.bytes
    const length = bytes.length
    let position = from
    while (position < length) {
      const byte = bytes[position]
      if (byte === 0x20 || byte === 0x09) position++
      else if (byte === 0x0a || byte === 0x0d) {
        this.hasLineBreaks = true
        position++
      } else break
    }
    return position
  }

  /** The offset of the next token. Throws at the end of the input. */
  private nextToken(from: number): number {
    if (from < this.bytes.length) {
      if ((this.bytes[from] ?? 0) > 0x20) return from
      const position = this.passSpace(from)
      if (position < this.bytes.length) return position
    }
    throw new JsonSyntaxError('unexpected end', this.bytes.length)
  }

  private enter(): void {
    if (++this.depth > depthMax) throw new JsonSyntaxError('nested too deeply', this.position)
  }

  private leave(position: number): false {
    this.depth--
    this.position = position + 1
    return false
  }

  private push(kind: number, position: number): void {
    if (this.depth + this.skipDepth >= depthMax) throw new JsonSyntaxError('nested too deeply', position)
    this.containers ??= new Uint8Array(depthMax + 1)
    this.containers[++this.skipDepth] = kind
  }

  private enterMember(position: number): true {
    const start = position
    const end = this.passName(position)
    this.isNamePlain = this.isPlain
    this.nameStart = start
    this.position = this.nextToken(end)
    return true
  }

  /** Passes a name, from its opening quote to after its colon. */
  private passName(position: number): number {
    if (this.bytes[position] !== QUOTE) this.fail(position)
    const end = this.passString(position + 1, Infinity)
    this.nameEnd = end
    const colon = this.nextToken(end)
    if (this.bytes[colon] !== COLON) this.fail(colon)
    return colon + 1
  }

  /**
   * Passes a string, from after its opening quote to after its closing quote. Past `limit` it returns the offset
   * reached, negated, never inside an escape; a call from that offset continues.
   */
  private passString(from: number, limit: number): number {
    const bytes = this.bytes
    const stop = from + shortStringBytes < bytes.length ? from + shortStringBytes : bytes.length
    let position = from
    let seen = 0
    while (position < stop) {
      const byte = bytes[position] ?? 0
      if (byte === QUOTE) {
        this.seen |= seen
        this.isPlain = seen < 0x80
        return position + 1
      }
      if (byte === BACKSLASH || byte < 0x20) break
      seen |= byte
      position++
    }
    this.seen |= seen
    return this.passLongString(position, limit)
  }

  /** Passes the rest of a string that is long or has escapes. */
  private passLongString(from: number, limit: number): number {
    const bytes = this.bytes
    const length = bytes.length
    let position = from
    let runFrom = from
    let seen = 0
    this.isPlain = false
    while (position < length) {
      if (position >= runFrom) {
        position = this.passRun(position, limit)
        runFrom = position + runAfterBytes
        if (position === length) break
        if (position >= limit) {
          this.seen |= seen
          return -position
        }
      }
      const byte = bytes[position] ?? 0
      if (byte === QUOTE) {
        this.seen |= seen
        return position + 1
      }
      if (byte === BACKSLASH) position = this.passEscape(position)
      else if (byte < 0x20) throw new JsonSyntaxError('unescaped control character in a string', position)
      else {
        seen |= byte
        position++
      }
    }
    throw new JsonSyntaxError('unterminated string', length)
  }

  /** Passes bytes of a string, four at a time, up to `limit` or a quote, backslash or control character. */
  private passRun(from: number, limit: number): number {
    const bytes = this.bytes
    const length = bytes.length
    const stop = limit < length ? limit : length
    if (stop - from < runBytesMin) return from
    if (length < viewBytesMin) return endOfPlainText(bytes, from)
    // A Uint32Array must start at a multiple of four in the underlying buffer: `lead` bytes after our start.
    const lead = (4 - (bytes.byteOffset & 3)) & 3
    const words = (this.words ??= new Uint32Array(bytes.buffer, bytes.byteOffset + lead, (length - lead) >> 2))
    const last = (stop - lead) >> 2
    let index = (from - lead + 3) >> 2
    let seen = 0
    for (let position = from; position < index * 4 + lead; position++) {
      const byte = bytes[position] ?? 0
      if (byte < 0x20 || byte === QUOTE || byte === BACKSLASH) return position
      seen |= byte
    }
    while (index < last) {
      const word = words[index] ?? 0
      const quote = word ^ 0x22222222
      const backslash = word ^ 0x5c5c5c5c
      // One of four bytes is below n when (word - n×0x01010101) & ~word & 0x80808080 is not zero
      // (Hacker's Delight, section 6-1).
      const found =
        ((word - 0x20202020) & ~word) | ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash)
      if ((found & 0x80808080) !== 0) break
      seen |= word
      index++
    }
    if ((seen & 0x80808080) !== 0) this.seen |= 0x80
    else this.seen |= seen & 0x80
    return index * 4 + lead
  }

  /** Passes an escape, from its backslash on. */
  private passEscape(position: number): number {
    const bytes = this.bytes
    switch (bytes[position + 1]) {
      case QUOTE:
      case BACKSLASH:
      case 0x2f:
      case 0x62:
      case 0x66:
      case 0x6e:
      case 0x72:
      case 0x74:
        return position + 2
      case 0x75:
        for (let index = position + 2; index < position + 6; index++) {
          const byte = bytes[index] ?? 0
          const isHex = (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
          if (!isHex) this.failEscape(position)
        }
        return position + 6
      default:
        return this.failEscape(position)
    }
  }

  /** Passes a number, `true`, `false` or `null`. */
  private passScalar(position: number): number {
    switch (this.bytes[position]) {
      case 0x74:
        return this.passWord(position, 0x72, 0x75, 0x65)
      case 0x6e:
        return this.passWord(position, 0x75, 0x6c, 0x6c)
      case 0x66:
        if (this.bytes[position + 1] !== 0x61) this.fail(position + 1)
        return this.passWord(position + 1, 0x6c, 0x73, 0x65)
      default:
        return this.passNumber(position)
    }
  }

  private passNumber(from: number): number {
    const bytes = this.bytes
    let position = from
    if (bytes[position] === 0x2d) position++
    if (bytes[position] === 0x30) position++
    else position = this.passDigits(position)
    if (bytes[position] === 0x2e) position = this.passDigits(position + 1)
    if (((bytes[position] ?? 0) | 0x20) === 0x65) {
      const sign = bytes[position + 1]
      position = this.passDigits(sign === 0x2b || sign === 0x2d ? position + 2 : position + 1)
    }
    return position
  }

  private passDigits(from: number): number {
    const bytes = this.bytes
    const length = bytes.length
    let position = from
    while (position < length) {
      const byte = bytes[position] ?? 0
      if (byte < 0x30 || byte > 0x39) break
      position++
    }
    if (position === from) this.fail(position)
    return position
  }

  /** Passes a letter and three given ones: `true`, `null` and the end of `false`. */
  private passWord(position: number, second: number, third: number, fourth: number): number {
    const bytes = this.bytes
    if (bytes[position + 1] !== second) this.fail(position + 1)
    if (bytes[position + 2] !== third) this.fail(position + 2)
    if (bytes[position + 3] !== fourth) this.fail(position + 3)
    return position + 4
  }

  /** Whether the first 512 bytes contain a backslash; a name in a table is never longer. */
  private hasEscape(start: number, end: number): boolean {
    const bytes = this.bytes
    const stop = Math.min(end, start + 512)
    for (let index = start; index < stop; index++) {
      if (bytes[index] === BACKSLASH) return true
    }
    return false
  }

  private decodedCode(table: NameTable, start: number, end: number): number {
    if (end - start > 512) return -1
    const name = this.stringAt(start, end)
    const candidates = table.ofLength(name.length) ?? []
    return candidates.find(({ bytes }) => name === latin1(bytes, 0, bytes.length))?.code ?? -1
  }

  private failEscape(position: number): never {
    throw new JsonSyntaxError(
      position + 1 < this.bytes.length ? 'invalid escape in a string' : 'unterminated string',
      position,
    )
  }

  private fail(position: number): never {
    if (position >= this.bytes.length) throw new JsonSyntaxError('unexpected end', this.bytes.length)
    throw new JsonSyntaxError('unexpected character', position)
  }
}

/** Whether `bytes` contains `expected` at `start`. */
export function isAt(bytes: Uint8Array, start: number, expected: Uint8Array): boolean {
  const length = expected.length
  if (bytes.length - start < length) return false
  for (let index = 0; index < length; index++) {
    if (expected[index] !== bytes[start + index]) return false
  }
  return true
}

/** The offset of the first byte from `start` on that is a quote, a backslash, not printable or above 0x7e. */
export function endOfPlainText(bytes: Uint8Array, start: number): number {
  const length = bytes.length
  let position = start
  while (position < length) {
    const byte = bytes[position] ?? 0
    if (byte < 0x20 || byte > 0x7e || byte === QUOTE || byte === BACKSLASH) break
    position++
  }
  return position
}

const NEXT_VALUE = 0
const IN_STRING = 1
const AFTER_VALUE = 2

/**
 * Checks that the bytes are UTF-8, yielding `pause` between slices of 4 MiB.
 *
 * @throws {JsonSyntaxError}
 */
export function* checkUtf8<Pause>(bytes: Uint8Array, pause: Pause): Generator<Pause, void, void> {
  for (let start = 0; start < bytes.length;) {
    const end = characterStart(bytes, Math.min(start + utf8SliceBytes, bytes.length))
    if (!isUtf8(bytes.subarray(start, end))) throw invalidUtf8(bytes, start, end)
    start = end
    if (start < bytes.length) yield pause
  }
}

const utf8SliceBytes = 4 * 1024 * 1024

/**
 * The start of the character at `offset`, at most three bytes before it. A longer run of continuation bytes is invalid
 * UTF-8 at any cut.
 */
function characterStart(bytes: Uint8Array, offset: number): number {
  let start = offset
  while (offset - start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}

/** The error for bytes that are not UTF-8 within `[from, to)`, with the offset of the first invalid byte. */
function invalidUtf8(bytes: Uint8Array, from: number, to: number): JsonSyntaxError {
  let start = from
  let end = to
  while (end - start > 8) {
    const middle = characterStart(bytes, (start + end) >> 1)
    if (isUtf8(bytes.subarray(start, middle))) start = middle
    else end = middle
  }
  for (let size = 1; size <= 4 && start < end; size++) {
    if (!isUtf8(bytes.subarray(start, start + size))) continue
    start += size
    size = 0
  }
  return new JsonSyntaxError('invalid UTF-8', start)
}
