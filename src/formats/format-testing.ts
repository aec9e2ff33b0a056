import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../base/json-value.ts'
import { eventStreamReader, formatEvents, type ServerSentEvent } from '../bytes/event-stream.ts'
import { countedPauses } from '../bytes/testing.ts'
import { encode } from '../bytes/text.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import { targetWith } from '../profiles/testing.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { AnswerEvent, FinishReason } from './answer.ts'
import type { Ask } from './ask.ts'
import { WireError } from './error.ts'
import { encodeJson, isObject, objectOf, parseJsonBytes } from './exact-json.ts'
import type { Envelope, Format, PassThroughTarget, StreamFormat, Talk } from './format.ts'
import { MalformedAnswer } from './malformed-answer.ts'
import type { Part } from './part.ts'
import { readUpstreamError } from './upstream-error.ts'

/** Sample requests and answers of a format. */
export interface FormatSamples {
  /** A request for a whole answer, with most fields of the format. */
  readonly request: JsonObject
  /** A request for a stream that has all facts of an answer. */
  readonly streamed: JsonObject
  /** Path of both, with a query. Default: the path of the format. */
  readonly path?: string
  /** Path of the request for a stream, where it differs. */
  readonly streamPath?: string
  /** Whole answers, of which a stream can say everything. None: the format has no answers in JSON. */
  readonly answers: fc.Arbitrary<JsonObject> | 'none'
  /** The events of a complete stream, where whole answers do not become one. */
  readonly events?: readonly JsonObject[]
  /** No change of a provider applies but the model's name. */
  readonly isVerbatim?: true
  /** Requests are forms: their members are parts. */
  readonly isForm?: true
  /** The members of an answer that stay the same to the end of a stream. */
  readonly head: readonly string[]
}

const target: PassThroughTarget = targetWith()
const anything = fc.jsonValue({ maxDepth: 2 })
const error = new WireError(502, 'api_error', 'provider_error', 'All providers failed: \'a\'\nand "b" 🌅')
const nothing = { first: undefined, place: undefined, last: undefined }
const deep = 100_000

/** An envelope at a path with a query. For tests. */
export function envelopeAt(address: string, headers: Readonly<Record<string, string>> = {}): Envelope {
  const [path = '', query] = address.split('?')
  return { path, headers: new Headers(headers), parameter: (name) => new URLSearchParams(query).get(name) }
}

/** The envelopes of the sample requests for a whole answer and for a stream. For tests. */
export function envelopesOf({ path }: Format, samples: Pick<FormatSamples, 'path' | 'streamPath' | 'isForm'>) {
  const whole = samples.path ?? path
  const headers = samples.isForm ? { 'content-type': `multipart/form-data; boundary=${boundary}` } : {}
  return { whole: envelopeAt(whole, headers), streamed: envelopeAt(samples.streamPath ?? whole, headers) }
}

const boundary = 'boundary-1'

/** Whole answers of a format; for one without any, objects. For tests. */
export function answersOf({ answers }: Pick<FormatSamples, 'answers'>): fc.Arbitrary<JsonObject> {
  return answers === 'none' ? fc.constant({ unknown: 1 }) : answers
}

/** Writes a sample request. For tests. */
export function encodeSample({ isForm }: Pick<FormatSamples, 'isForm'>, fields: JsonObject): Uint8Array {
  if (!isForm) return encodeJson(fields)
  const parts = Object.entries(fields).map(([name, value]) => {
    const file = name === 'file' || name === 'image' ? '; filename="f"\r\nContent-Type: application/octet-stream' : ''
    const content = typeof value === 'string' ? value : JSON.stringify(value)
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`
  })
  return encode(`${parts.join('')}--${boundary}--\r\n`)
}

/** The contract of every format that callers speak. For tests. */
export function formatContract(format: Format, samples: FormatSamples): void {
  const { request, streamed } = samples
  const envelopes = envelopesOf(format, samples)
  const envelope = envelopes.whole
  const body = encodeSample(samples, request)

  const check = (bytes: Uint8Array): Ask => format.check(bytes, envelope)
  const checkStreamed = (bytes: Uint8Array): Ask => format.check(bytes, envelopes.streamed)

  /** The checked request; undefined for one that is refused, the same way by both checks. */
  async function admitted(bytes: Uint8Array): Promise<Ask | undefined> {
    const ask = attempt(() => check(bytes), WireError)
    const again = await format.checkLarge(bytes, async () => undefined, envelope).catch((failure: unknown) => failure)
    if (ask !== undefined) expect(again).toEqual(ask)
    else expect(again).toMatchObject({ name: 'WireError', status: 400 })
    return ask
  }

  describe('a request', () => {
    test('is checked in place', async () => {
      const ask = await admitted(body)
      // Answers that are not JSON are sent as they arrive.
      expect(ask).toMatchObject({ format: format.name, body, stream: samples.answers === 'none' })
      for (const { name, start, valueStart, end } of ask?.members ?? []) {
        if (samples.isForm) {
          expect(text(body.subarray(start, end))).toBe(String(request[name]))
          continue
        }
        const [member] = Object.entries(objectOf(parseJsonBytes(encode(`{${text(body.subarray(start, end))}}`))))
        expect(member).toEqual([name, request[name]])
        expect(parseJsonBytes(body.subarray(valueStart, end))).toEqual(request[name])
      }
      expect((ask && format.demand(ask))?.prompt?.bytes ?? 0).toBeGreaterThanOrEqual(0)
    })

    test('that is damaged is admitted or refused with 400', async () => {
      const damage = fc.record({ at: fc.nat(body.length - 1), byte: fc.nat(255), end: fc.nat(body.length) })
      await fc.assert(
        fc.asyncProperty(damage, fc.boolean(), async ({ at, byte, end }, isCut) => {
          const damaged = body.slice(0, isCut ? end : body.length)
          damaged[at] = byte
          await admitted(damaged)
        }),
        { numRuns: 300 },
      )
    })

    test('with any values is admitted or refused with 400, and so is any other JSON', async () => {
      const fields = fc.record(Object.fromEntries(Object.keys(request).map((name) => [name, anything])))
      const changed = fc.tuple(fields, fc.subarray(Object.keys(request))).map(([values, names]) => ({
        ...request,
        ...Object.fromEntries(names.map((name) => [name, values[name]])),
      }))
      await fc.assert(
        fc.asyncProperty(fc.oneof(changed, anything), async (value) => {
          const ask = await admitted(isObject(value) ? encodeSample(samples, value) : encode(JSON.stringify(value)))
          if (ask !== undefined) attempt(() => format.talk?.read(ask, []), UpstreamFailure)
        }),
        { numRuns: 200 },
      )
    })

    test('that is nested deeply is refused with 400, in any member', async () => {
      for (const name of [...Object.keys(request), 'unknown']) {
        const nested = `${'['.repeat(deep)}${']'.repeat(deep)}`
        const { [name]: _replaced, ...others } = request
        const fields = `${JSON.stringify(others).slice(0, -1)},${JSON.stringify(name)}:${nested}}`
        expect(await admitted(encode(fields))).toBeUndefined()
      }
    })

    test('with very many members is refused with 400', async () => {
      const many = Object.fromEntries(Array.from({ length: deep }, (_, index) => [`m${index}`, 0]))
      expect(await admitted(encodeSample(samples, { ...request, ...many }))).toBeUndefined()
    })

    test('that is large is checked in slices', async () => {
      using pauses = countedPauses()
      const large = encodeSample(samples, { ...request, unknown: 'x'.repeat(4 * 1024 * 1024) })
      await format.checkLarge(large, pauses.pause, envelope)
      expect(pauses.count()).toBeGreaterThan(3)
    })

    test('loses the reasoning of earlier answers where a provider refuses it', () => {
      for (const fields of [request, { ...request, unknown: 'x'.repeat(100) }]) {
        const bare = format.withoutReasoning?.(check(encodeJson(fields)))
        if (bare === undefined) continue
        expect(check(bare.body)).toEqual(bare)
        expect(format.withoutReasoning?.(bare)).toBeUndefined()
        expect(text(bare.body)).not.toContain('Hm.')
      }
    })

    if (samples.isForm) {
      test('passes through with the name of the model at a provider', () => {
        const ask = check(body)
        const changes = { ...target, overrides: { file: 1 }, drop: ['file'] }
        const written = (name: string) => text(Buffer.concat(format.passThrough.write(ask, name, changes)))
        expect(written('asked')).toBe(text(body))
        expect(written('theirs')).toBe(text(encodeSample(samples, { ...request, model: 'theirs' })))
      })
      return
    }

    test('passes through with the changes of a provider', () => {
      const written = (profile: Partial<TargetProfile>, overrides: JsonObject = {}, defaults: JsonObject = {}) =>
        objectOf(
          parseJsonBytes(
            Buffer.concat(
              format.passThrough.write(check(body), 'theirs', { ...targetWith(profile), overrides, defaults }),
            ),
          ),
        )
      const own = 'model' in request ? { ...request, model: 'theirs' } : request
      const [field = ''] = Object.keys(request).filter((name) => name !== 'model')
      const { [field]: value, ...rest } = own
      expect(written({})).toEqual(own)
      if (samples.isVerbatim) {
        expect(written({ rename: { [field]: 'renamed' }, drop: [field] }, { [field]: 1 }, { added: 1 })).toEqual(own)
        return
      }
      expect(written({}, {}, { added: [1], [field]: 'theirs' })).toEqual({ ...own, added: [1] })
      expect(written({}, { added: [1], [field]: 'theirs' })).toEqual({
        ...own,
        added: [1],
        [field]: 'theirs',
      })
      expect(written({ rename: { [field]: 'renamed' } })).toEqual({ ...rest, renamed: value })
      expect(written({ drop: [field] })).toEqual(rest)
    })
  })

  describe('a failure', () => {
    test('is an error body that clients can read', () => {
      expect(readUpstreamError(encode(format.errorBody(error, 'request-1')))).toMatchObject({ message: error.message })
    })
  })

  describe('a whole answer', () => {
    const read = (bytes: Uint8Array) => format.passThrough.readWhole(bytes, check(body))

    test('is read, unchanged when it is well-formed', () => {
      if (samples.answers === 'none') return
      fc.assert(
        fc.property(answersOf(samples), (answer) => {
          const whole = read(encodeJson(answer))
          expect(whole.kind === 'whole' && parseJsonBytes(whole.body)).toEqual(parsed(answer))
        }),
        { numRuns: 50 },
      )
    })

    test('of any content is read, an error or malformed', () => {
      fc.assert(
        fc.property(answerBytes(answersOf(samples)), (bytes) => {
          const whole = attempt(() => read(bytes), MalformedAnswer)
          if (whole?.kind === 'whole') expect(isObject(parseJsonBytes(whole.body))).toBe(true)
        }),
        { numRuns: 200 },
      )
    })
  })

  const { stream, talk } = format
  if (stream !== undefined) outputContract(stream, checkStreamed, format, samples)
  if (isFull(stream)) streamContract(stream, checkStreamed, samples)
  if (talk !== undefined) talkContract(talk, check, checkStreamed(encodeSample(samples, streamed)), format, samples)
}

/** Whether streams are converted and resumed. */
function isFull(stream: Format['stream']): stream is StreamFormat {
  return stream?.split !== undefined && stream.gatherer !== undefined && stream.continuation !== undefined
}

/** The contract of a format that is streamed. */
function outputContract(
  stream: NonNullable<Format['stream']>,
  check: (body: Uint8Array) => Ask,
  format: Format,
  samples: FormatSamples,
): void {
  const { passThrough } = format
  const ask = () => check(encodeSample(samples, samples.streamed))
  const own = formatEvents((samples.events ?? []).map((event) => ({ data: encodeJson(event) })))
  const split = (answer: JsonObject) =>
    stream.split === undefined ? readParts(format, ask(), [own]) : stream.split(encodeJson(answer), ask())

  describe('a stream', () => {
    test('has keep-alives only if any answer can become one', () => {
      expect(stream.keepAlive === undefined || stream.split !== undefined).toBe(true)
    })

    test('is read back from its bytes, after keep-alives', () => {
      const before = stream.keepAlive === undefined ? [] : [stream.keepAlive.bytes, stream.keepAlive.bytes]
      const idle = readParts(format, ask(), before)
      expect(idle.filter(({ isMeaningful }) => isMeaningful)).toEqual([])
      fc.assert(
        fc.property(answersOf(samples), (answer) => {
          const parts = split(answer)
          const bytes = [...before, ...parts.map((part) => stream.frame([part])), stream.end]
          expectSame(readParts(format, ask(), bytes).slice(idle.length), parts)
          expectSame(readParts(format, ask(), [stream.frame(parts), stream.end]), parts)
        }),
        { numRuns: 50 },
      )
    })

    test('commits, and ends', () => {
      const parts = split(fc.sample(answersOf(samples), 1)[0] ?? {})
      expect(parts.some(({ isMeaningful }) => isMeaningful)).toBe(true)
      expect(parts.at(-1)?.hasOpenChoice).toBe(false)
    })

    test('does not send parts for the record only', () => {
      const [part] = split(fc.sample(answersOf(samples), 1)[0] ?? {})
      expect(part && stream.frame([{ ...part, data: new Uint8Array() }])).toHaveLength(0)
    })

    test('that failed ends with an error event that clients can read', () => {
      const parts = split(fc.sample(answersOf(samples), 1)[0] ?? {})
      for (const delivered of [nothing, { first: parts[0], place: parts.at(-1), last: parts.at(-1) }]) {
        const events = eventsOf([stream.error(error, delivered)])
        expect(events.map(({ data }) => readUpstreamError(data)?.message)).toContain(error.message)
        expect(readParts(format, ask(), [stream.error(error, delivered)])).toEqual([])
      }
    })

    test('of any content is parts of one line, errors or malformed', () => {
      const event = fc.record({ event: fc.constantFrom('', 'error', 'x'), data: answerBytes(answersOf(samples)) })
      fc.assert(
        fc.property(fc.array(event, { maxLength: 4 }), (events) => {
          const reader = passThrough.reader?.(ask(), target)
          for (const each of events) {
            const read = attempt(() => reader?.read(each), MalformedAnswer)
            // Nothing is read after an event that is malformed.
            if (read === undefined) return
            if (read !== 'done' && !('kind' in read)) expectParts(read)
          }
          expectParts(attempt(() => reader?.finish(), MalformedAnswer) ?? [])
        }),
        { numRuns: 100 },
      )
    })
  })
}

/** The contract of a format whose streams are converted and resumed. */
function streamContract(stream: StreamFormat, check: (body: Uint8Array) => Ask, samples: FormatSamples): void {
  const ask = () => check(encodeSample(samples, samples.streamed))
  const split = (answer: JsonObject) => stream.split(encodeJson(answer), ask())

  function gather(parts: readonly Part[]): JsonObject {
    const gatherer = stream.gatherer(ask())
    for (const part of parts) gatherer.add(part)
    return objectOf(parseJsonBytes(gatherer.finish()))
  }

  describe('a stream', () => {
    test('that is split from an answer, and gathered, is the answer again', () => {
      fc.assert(
        fc.property(answersOf(samples), (answer) => {
          const parts = split(answer)
          expect(gather(parts)).toEqual(parsed(answer))
          expect(parts.at(-1)?.hasOpenChoice).toBe(false)
          expect(parts.some(({ isMeaningful }) => isMeaningful)).toBe(true)
        }),
        { numRuns: 50 },
      )
    })

    test('that is continued keeps the head of its beginning', () => {
      fc.assert(
        fc.property(answersOf(samples), answersOf(samples), fc.nat(), (answer, other, cut) => {
          const parts = split(answer)
          const beginning = parts.slice(0, 1 + (cut % parts.length))
          const said = beginning.map((part) => part.text).join('')
          const rest = stream.continuation(
            ask(),
            { first: beginning[0], place: beginning.at(-1), last: beginning.at(-1) },
            said,
          )
          const whole = gather([...beginning, ...split(other).flatMap((part) => rest.write(part))])
          for (const name of samples.head) expect(whole[name]).toEqual(answer[name])
        }),
        { numRuns: 50 },
      )
    })

    test('is read back as events: the text of its parts, or as content that cannot be compared', () => {
      fc.assert(
        fc.property(answersOf(samples), (answer) => {
          const retracer = stream.retracer(ask())
          const parts = split(answer)
          const events = parts.map((part) => attempt(() => retracer.read(part), MalformedAnswer))
          if (events.includes(undefined)) return
          const read = events
            .flatMap((each) => each ?? [])
            .map((event) => (event.kind === 'text' && event.choice === 0 ? event.text : ''))
          expect(read.join('')).toBe(parts.map((part) => part.text).join(''))
        }),
        { numRuns: 50 },
      )
    })

    test('is asked for again with the text that the client has', () => {
      const again = stream.continued(ask(), 'said "so" 🌅')
      expect(attempt(() => check(again.body), WireError)).toEqual(again)
      expect(text(again.body)).toContain(JSON.stringify('said "so" 🌅'))
    })

    test('that is split from anything, and gathered, is an answer or malformed', () => {
      fc.assert(
        fc.property(answerBytes(answersOf(samples)), (body) => {
          attempt(() => gather(stream.split(body, ask())), MalformedAnswer)
        }),
        { numRuns: 100 },
      )
    })
  })
}

/** The contract of a format that is translated. */
function talkContract(
  talk: Talk,
  check: (body: Uint8Array) => Ask,
  ask: Ask,
  format: Format,
  samples: FormatSamples,
): void {
  const request = encodeJson(samples.request)

  describe('a translated request', () => {
    test('is a conversation of the format, without dropped fields', () => {
      const conversation = talk.read(check(request), [])
      expect(conversation.format).toBe(format.name)
      expect(conversation.turns.length).toBeGreaterThan(0)
      const dropped = Object.keys(samples.request).filter(
        (name) => !JSON.stringify(samples.request[name]).includes('role'),
      )
      const bare = talk.read(check(request), dropped)
      expect(bare).toMatchObject({ maxTokens: undefined, temperature: undefined, stops: [], own: {} })
    })
  })

  describe('a translated answer', () => {
    test('is one that the format reads, streamed and whole', () => {
      fc.assert(
        fc.property(saidEvents, fc.boolean(), (pieces, isCut) => {
          const written = isCut ? pieces.slice(0, -1) : pieces
          const said = written.flat()
          const writer = talk.writer(ask)
          const parts = written.flatMap((events) => writer.write(events))
          if (!isCut) parts.push(...writer.end())
          expectParts(parts)
          expectFacts(parts, said)
          if (format.stream !== undefined) {
            const again = readParts(format, ask, [format.stream.frame(parts)])
            expectText(again, said)
            expect(again.some(({ finishReason }) => finishReason !== undefined)).toBe(!isCut)
          }
          if (isCut) return
          const reply = talk.writeWhole(said, check(request))
          const whole = format.passThrough.readWhole(reply.body, check(request))
          expect(whole).toEqual({ ...reply, model: 'theirs' })
        }),
        { numRuns: 100 },
      )
    })
  })
}

/** Calls of an answer that has not finished, and what comes behind them, may wait. */
function mayBeHeld(said: readonly AnswerEvent[]): boolean {
  return said.some(({ kind }) => kind === 'call') && said.every(({ kind }) => kind !== 'finish')
}

function expectText(parts: readonly Part[], said: readonly AnswerEvent[]): void {
  const text = parts.map((part) => part.text).join('')
  if (mayBeHeld(said)) expect(textOf(said)).toStartWith(text)
  else expect(text).toBe(textOf(said))
}

function expectFacts(parts: readonly Part[], said: readonly AnswerEvent[]): void {
  const finishes = parts.filter(({ finishReason }) => finishReason !== undefined)
  expectText(parts, said)
  expect(finishes).toHaveLength(said.some(({ kind }) => kind === 'finish') ? 1 : 0)
  if (finishes.length > 0) expect(parts.at(-1)).toMatchObject({ hasOpenChoice: false })
  const beyond = said.some(({ kind }) => kind === 'call' || kind === 'reasoning')
  if (!mayBeHeld(said)) expect(parts.some(({ isBeyondText }) => isBeyondText)).toBe(beyond)
  const counts = said.findLast((event) => event.kind === 'usage')?.counts
  if (counts !== undefined) {
    expect(parts.findLast(({ usage }) => usage !== undefined)?.usage).toMatchObject({
      promptTokens: counts.prompt,
      completionTokens: counts.completion,
    })
  }
}

function textOf(said: readonly AnswerEvent[]): string {
  return said.map((event) => (event.kind === 'text' ? event.text : '')).join('')
}

const choice = 0
const piece = fc.constantFrom('a', 'b 🌅', '{"c":', '\n')

/** The events of one answer, in the pieces in which they come; the last has the finish and the usage. */
const saidEvents: fc.Arbitrary<readonly (readonly AnswerEvent[])[]> = fc
  .tuple(
    fc.array(
      piece.map((text): AnswerEvent => ({ kind: 'reasoning', choice, text })),
      { maxLength: 2 },
    ),
    fc.array(
      piece.map((text): AnswerEvent => ({ kind: 'text', choice, text })),
      { maxLength: 3 },
    ),
    fc.nat(2),
    fc.constantFrom<FinishReason>('stop', 'length'),
  )
  .map(([reasoning, texts, callCount, end]) => {
    const calls = Array.from({ length: callCount }, (_, call): readonly AnswerEvent[] => [
      { kind: 'call', choice, call, id: `call_${call}`, name: 'find', opaque: undefined },
      { kind: 'arguments', choice, call, text: '{"a":' },
      { kind: 'arguments', choice, call, text: '1}' },
      { kind: 'callEnd', choice, call },
    ])
    const reason = callCount > 0 ? 'tool_calls' : end
    return [
      [{ kind: 'start', id: 'a1', model: 'theirs', created: 1 }],
      ...reasoning.map((event) => [event]),
      ...texts.map((event) => [event]),
      ...calls,
      [
        { kind: 'finish', choice, reason, raw: reason },
        { kind: 'usage', counts: { prompt: 3, completion: 4, cached: 1 }, own: undefined },
      ],
    ]
  })

/** Bytes that may be an answer: one, a damaged one, other JSON, or any bytes. */
function answerBytes(answers: fc.Arbitrary<JsonObject>): fc.Arbitrary<Uint8Array> {
  const damaged = fc.tuple(answers, fc.nat(), fc.nat(255)).map(([answer, at, byte]) => {
    const bytes = encodeJson(answer)
    bytes[at % bytes.length] = byte
    return bytes
  })
  const odd = fc
    .tuple(answers, anything, fc.nat())
    .map(([answer, value, at]) =>
      encodeJson({ ...answer, [Object.keys(answer)[at % Object.keys(answer).length] ?? '']: value }),
    )
  return fc.oneof(
    damaged,
    odd,
    anything.map((value) => encode(JSON.stringify(value))),
    fc.uint8Array(),
  )
}

/** The result, or undefined if an error of this class is thrown. */
function attempt<Result>(run: () => Result, expected: new (...given: never[]) => Error): Result | undefined {
  try {
    return run()
  } catch (failure) {
    expect(failure).toBeInstanceOf(expected)
    return undefined
  }
}

function eventsOf(bytes: readonly Uint8Array[]): readonly ServerSentEvent[] {
  const reader = eventStreamReader()
  return [...bytes.flatMap((each) => reader.push(each)), ...reader.end()]
}

/** The parts that a client of the format reads, until the end or an error. */
function readParts({ passThrough }: Format, ask: Ask, bytes: readonly Uint8Array[]): readonly Part[] {
  const reader = passThrough.reader?.(ask, target)
  const parts: Part[] = []
  for (const event of eventsOf(bytes)) {
    const read = reader?.read(event) ?? 'done'
    if (read !== 'done' && 'kind' in read) return parts
    parts.push(...(read === 'done' ? (reader?.finish() ?? []) : read))
    if (read === 'done') break
  }
  return parts.some(({ finishReason }) => finishReason !== undefined) ? [...parts, ...(reader?.end?.() ?? [])] : parts
}

/** The parts with data have the same data and facts. */
function expectSame(read: readonly Part[], parts: readonly Part[]): void {
  const shown = (each: readonly Part[]) =>
    each
      .filter(({ data }) => data.length > 0)
      .map((part) => ({ ...part, framed: undefined, data: parseJsonBytes(part.data) }))
  expect(shown(read)).toEqual(shown(parts))
}

function expectParts(parts: readonly Part[]): void {
  for (const { data } of parts) {
    if (data.length === 0) continue
    expect(isObject(parseJsonBytes(data))).toBe(true)
    expect(data.includes(0x0a) || data.includes(0x0d)).toBe(false)
  }
}

function parsed(value: JsonObject): JsonObject {
  return objectOf(parseJsonBytes(encodeJson(value)))
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
