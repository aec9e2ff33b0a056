import { isAscii, isUtf8 } from 'node:buffer'
import { boundaryOf, FormSyntaxError, readForm, type FormPart } from '../../bytes/multipart.ts'
import type { Pace, Walk } from '../../bytes/pace.ts'
import { latin1, utf8 } from '../../bytes/text.ts'
import type { RelayName } from '../ask.ts'
import { CheckedNames, SeenNames } from '../checked-names.ts'
import { invalidRequest } from '../error.ts'
import { checkedModel } from '../fields.ts'
import type { Envelope } from '../format.ts'
import { missing } from '../request-fault.ts'
import type { FormRequests, RelayEndpoint } from './endpoint.ts'
import { relayRequest, type ModelPlace, type RelayRequest } from './request.ts'

/** Parts that select the kind of an answer are at most this long. */
const selectorBytesMax = 64
/** More than the longest name has. */
const modelBytesMax = 2_048
/** Boundaries of these characters need no quotes in a header. */
const plainBoundary = /^[\w'+.-]+$/
/** Types of a part whose bytes are its text. */
const textType =
  /^(?:|text\/plain(?:[ \t]*;[ \t]*charset="?(?:utf-?8|us-ascii|(iso-8859-\d+|windows-125\d|latin-?1))"?)?)[ \t]*$/i

/** Returns a check of forms. Their parts pass unread, except the model and what selects the kind of answer. */
export function formCheck(format: RelayName, endpoint: RelayEndpoint, { required }: FormRequests) {
  const { stream, media } = endpoint
  const selectors = ['model', stream?.member, media?.asked?.member].filter((name) => name !== undefined)
  const checked = new CheckedNames([...selectors, ...required.flat(), 'n'])
  const lists = new Set(required.filter((names) => names.some(isListName)).flat())

  return function* readRequest(body: Uint8Array, { headers }: Envelope, pace: Pace): Walk<RelayRequest> {
    const boundary = boundaryOf(headers.get('content-type') ?? '')
    if (boundary === undefined)
      throw invalidRequest('invalid_form', 'The content-type must be multipart/form-data with a boundary.')
    const parts = yield* partsOf(body, boundary, pace)
    checkNames(parts, checked, lists)
    for (const name of selectors) checkSelector(body, parts, name)
    const own = parts.find(({ name }) => name === 'model')
    const model = own === undefined ? endpoint.defaultModel : modelIn(body, own)
    if (model === undefined) throw missing('model')
    checkCount(body, parts)
    for (const names of required) if (!parts.some(({ name }) => names.includes(name))) throw missing(names[0] ?? '')
    return relayRequest(format, endpoint, {
      body,
      model,
      members: parts.map(({ name, start, end }) => ({ name, start, valueStart: start, end })),
      modelAt: placeOf(own, boundary),
      headers: {
        'content-type': `multipart/form-data; boundary=${plainBoundary.test(boundary) ? boundary : `"${boundary}"`}`,
      },
      textOf: (name) =>
        shortText(
          body,
          parts.find((part) => part.name === name),
        ),
    })
  }
}

function* partsOf(body: Uint8Array, boundary: string, pace: Pace): Walk<readonly FormPart[]> {
  try {
    return yield* readForm(body, boundary, pace)
  } catch (error) {
    if (!(error instanceof FormSyntaxError)) throw error
    throw invalidRequest('invalid_form', `The request body is not a valid form: ${error.message}.`)
  }
}

/** @param name with a character for each byte */
function decoded(name: string): string {
  const bytes = name.replaceAll(/%[\da-f]{2}/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)))
  return utf8(Buffer.from(bytes, 'latin1'))
}

/** The name of each of several parts, such as `image[]`. */
function isListName(name: string): boolean {
  return name.endsWith('[]')
}

/**
 * Some programs take `model[]`, `model `, `'model'` and `mod%65l` for `model`.
 *
 * @param lists names of which there may be several parts
 */
function checkNames(parts: readonly FormPart[], checked: CheckedNames, lists: ReadonlySet<string>): void {
  const seen = new SeenNames(checked)
  for (const { name } of parts) {
    if (lists.has(name)) continue
    const code = checked.names.indexOf(name)
    if (code !== -1) seen.add(code, name)
    else checked.refuseOther(decoded(name).replace(/^[\s\0'"]+|(?:[\s\0'"]|[[.].*)+$/gs, ''), decoded(name))
  }
}

/** Readers read other text in parts that are files. Java's clients name an old charset by default, for plain ASCII. */
function checkSelector(body: Uint8Array, parts: readonly FormPart[], name: string): void {
  const part = parts.find((each) => each.name === name)
  if (part === undefined) return
  const [found, oldCharset] = textType.exec(part.contentType) ?? []
  if (part.isFile || found === undefined)
    throw invalidRequest('invalid_type', `'${name}' must be plain text, without a file name.`, name)
  if (oldCharset !== undefined && !isAscii(body.subarray(part.start, part.end)))
    throw invalidRequest('invalid_value', `'${name}' must be UTF-8 or ASCII, not ${oldCharset}.`, name)
}

function modelIn(body: Uint8Array, { start, end }: FormPart): string {
  const bytes = body.subarray(start, Math.min(end, start + modelBytesMax))
  if (!isUtf8(bytes)) throw invalidRequest('invalid_value', "'model' must be UTF-8.", 'model')
  return checkedModel(utf8(bytes))
}

/** Programs read other texts in different ways. */
function checkCount(body: Uint8Array, parts: readonly FormPart[]): void {
  const part = parts.find(({ name }) => name === 'n')
  if (part === undefined) return
  if (part.isFile || !/^[1-9]\d{0,8}$/.test(latin1(body, part.start, Math.min(part.end, part.start + 10))))
    throw invalidRequest('invalid_value', "'n' must be a whole number from 1 on.", 'n')
}

/** A model that is added is the first part. */
function placeOf(part: FormPart | undefined, boundary: string): ModelPlace {
  if (part !== undefined) return { start: part.start, end: part.end, before: '', after: '', isJson: false }
  const before = `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n`
  return { start: 0, end: 0, before, after: '\r\n', isJson: false }
}

/** The text of a short part. Libraries write booleans in different ways. */
function shortText(body: Uint8Array, part: FormPart | undefined): string | undefined {
  if (part === undefined || part.end - part.start > selectorBytesMax) return undefined
  const text = utf8(body, part.start, part.end)
  return /^(?:true|1)$/i.test(text) ? 'true' : text
}
