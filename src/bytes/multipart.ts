import { Buffer } from 'node:buffer'
import { readHeaderValue } from './header-value.ts'
import { sliceBytes, type Pace, type Walk } from './pace.ts'
import { encode, latin1 } from './text.ts'

/** The bytes are not a form that every reader understands in the same way. */
export class FormSyntaxError extends Error {
  override readonly name = 'FormSyntaxError'
}

/** A part of a form, by its offsets in the body. */
export interface FormPart {
  readonly name: string
  /** It has a file name. */
  readonly isFile: boolean
  /** Its `content-type`, as it is written; empty without one. */
  readonly contentType: string
  readonly start: number
  /** Offset after its content. */
  readonly end: number
}

const partsMax = 1_000
const headerBytesMax = 8 * 1024
const boundaryCharactersMax = 70
/** RFC 2046 section 5.1.1; it must not end in a blank. */
const acceptableBoundary = /^[0-9A-Za-z'()+_,./:=? -]*[0-9A-Za-z'()+_,./:=?-]$/
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0-\x08\x0a-\x1f\x7f]*)$/
/** Encodings that leave the bytes as they are. */
const plainEncoding = /^(?:7bit|8bit|binary)[ \t]*$/i
const lineBreak = encode('\r\n')
const headersEnd = encode('\r\n\r\n')

/** The boundary in a `content-type` of `multipart/form-data`; undefined for others, and without an acceptable one. */
export function boundaryOf(contentType: string): string | undefined {
  const { value, parameters } = readHeaderValue(contentType) ?? {}
  const boundary = parameters?.get('boundary') ?? ''
  const isAcceptable = boundary.length <= boundaryCharactersMax && acceptableBoundary.test(boundary)
  return value === 'multipart/form-data' && isAcceptable ? boundary : undefined
}

/**
 * Finds the parts of a form (RFC 7578) without copying them. Stricter than the RFC: anything that readers could
 * understand in different ways is an error, such as text before the first boundary and after the last one.
 *
 * @throws {FormSyntaxError}
 */
export function* readForm(body: Uint8Array, boundary: string, pace: Pace): Walk<readonly FormPart[]> {
  const delimiter = encode(`--${boundary}`)
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  if (!startsWith(bytes, delimiter, 0)) throw new FormSyntaxError('it does not begin with the boundary')
  const parts: FormPart[] = []
  let position = delimiter.length
  while (startsWith(bytes, lineBreak, position)) {
    if (parts.length === partsMax) throw new FormSyntaxError(`it has more than ${partsMax} parts`)
    const part = readHeaders(bytes, position + 2)
    const next = yield* find(bytes, delimiter, part.start, pace)
    if (next === -1) throw new FormSyntaxError('it has no final boundary')
    const end = next - lineBreak.length
    // Some readers end a part here too.
    if (end < part.start || !startsWith(bytes, lineBreak, end))
      throw new FormSyntaxError('the boundary is within a line')
    parts.push({ ...part, end })
    position = next + delimiter.length
  }
  checkEnd(bytes, position)
  return parts
}

/** Reads the headers of the part at `position`. The content follows them. */
function readHeaders(bytes: Buffer, position: number): Omit<FormPart, 'end'> {
  // Two bytes earlier, so that a part without headers is found too.
  const end = bytes.subarray(position - 2, position + headerBytesMax).indexOf(headersEnd)
  if (end === -1) throw new FormSyntaxError(`the headers of a part do not end within ${headerBytesMax} bytes`)
  const stop = position - 2 + end
  const headers = new Map<string, string>()
  for (const line of stop < position ? [] : latin1(bytes, position, stop).split('\r\n')) {
    const [, name = '', value = ''] = headerLine.exec(line) ?? []
    if (name === '') throw new FormSyntaxError('a part has a malformed header')
    if (headers.has(name.toLowerCase())) throw new FormSyntaxError(`a part has its header ${name} twice`)
    headers.set(name.toLowerCase(), value)
  }
  if (!plainEncoding.test(headers.get('content-transfer-encoding') ?? 'binary'))
    throw new FormSyntaxError('a part has a content-transfer-encoding')
  return {
    ...readDisposition(headers.get('content-disposition') ?? ''),
    contentType: headers.get('content-type') ?? '',
    start: stop + headersEnd.length,
  }
}

function readDisposition(text: string): Pick<FormPart, 'name' | 'isFile'> {
  const { value, parameters } = readHeaderValue(text) ?? {}
  const name = parameters?.get('name')
  if (value !== 'form-data' || name === undefined || name.includes('\\') || parameters?.has('name*') === true)
    throw new FormSyntaxError('a part has no clear name')
  return { name, isFile: parameters?.has('filename') === true || parameters?.has('filename*') === true }
}

/** After a boundary: the end of the form, with or without a line break. */
function checkEnd(bytes: Buffer, position: number): void {
  const rest = latin1(bytes, position, Math.min(bytes.length, position + 5))
  if (rest === '--' || rest === '--\r\n') return
  if (rest.startsWith('--')) throw new FormSyntaxError('there are bytes after the final boundary')
  throw new FormSyntaxError(rest === '' ? 'it has no final boundary' : 'a line begins with the boundary and goes on')
}

/** Offset of the needle; -1 without one. */
function* find(bytes: Buffer, needle: Uint8Array, from: number, pace: Pace): Walk<number> {
  for (let start = from; start < bytes.length; start += sliceBytes) {
    const found = bytes.subarray(start, start + sliceBytes + needle.length - 1).indexOf(needle)
    if (found !== -1) return start + found
    if (start >= pace.limit) yield pace
  }
  return -1
}

function startsWith(bytes: Buffer, beginning: Uint8Array, position: number): boolean {
  return bytes.subarray(position, position + beginning.length).equals(beginning)
}
