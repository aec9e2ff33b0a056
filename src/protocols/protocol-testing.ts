import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatEvent } from '../bytes/event-stream.ts'
import { serverSentEvents } from '../bytes/framing.ts'
import { encode } from '../bytes/text.ts'
import type { Ask, FormatName } from '../formats/ask.ts'
import { encodeJson, isObject, parseJsonBytes } from '../formats/exact-json.ts'
import { formats } from '../formats/format-list.ts'
import { answersOf, encodeSample, envelopesOf } from '../formats/format-testing.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import type { Part } from '../formats/part.ts'
import { formatSamples } from '../formats/sample-testing.ts'
import { UpstreamFailure } from '../service/failure.ts'
import { headerBlock } from '../transport/header-block.ts'
import { streamReply } from '../upstream/stream-reply.ts'
import { endpointAt } from './fixtures/load.ts'
import type { Dialect, Protocol } from './protocol.ts'
import { cutAt, event, fakeBody } from './testing.ts'

/** Sample answers of an upstream. */
export interface UpstreamSamples {
  /** Any JSON, mostly shaped like whole answers and events of streams. */
  readonly answers: fc.Arbitrary<unknown>
  /** Complete streams: the data of each event. */
  readonly streams: readonly (readonly string[])[]
}

/** Sample answers of a protocol's upstreams to requests in a format. */
export type SamplesOf = (format: FormatName) => UpstreamSamples

const key = 'correct-horse-battery-staple'
const base = 'https://upstream.test/base/v1'
const endpoint = endpointAt(base, { apiKey: key })
const step = 5
const anything = fc.jsonValue({ maxDepth: 1 })
const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '.',
    '..',
    '../..',
    '/',
    'a/../b',
    '%2e%2e',
    '?key=b',
    '#c',
    'a:b',
    '\\',
    'x\r\nhost: y',
    '\ud800',
  ),
)

/** The contract of every protocol. For tests. */
export function protocolContract(protocol: Protocol, samplesOf: SamplesOf): void {
  const sign = protocol.sign(endpoint)

  describe('the signer', () => {
    test('puts the key into headers, beside those of the configuration', async () => {
      const headers = { 'X-Own': 'own', accept: 'text/own' }
      const signed = await protocol.sign({ ...endpoint, headers })({ method: 'GET', path: '/', body: [] })
      expect(headerBlock(signed)).toContain(key)
      expect(headerBlock(signed)).toMatch(/^x-own: own\r$/m)
      expect(headerBlock(signed).match(/^accept: .*$/gm)).toEqual(['accept: text/own'])
    })

    test('needs no key', async () => {
      const signed = await protocol.sign({ ...endpoint, apiKey: undefined })({ method: 'GET', path: '/', body: [] })
      expect(headerBlock(signed)).not.toMatch(/undefined|authorization|key/i)
    })
  })

  describe('the list of models', () => {
    test('stays below the base URL, without the key', () => {
      expectBelow(protocol.models.page(endpoint))
      const cursors = hostile.filter((cursor) => cursor.isWellFormed())
      fc.assert(fc.property(cursors, (cursor) => expectBelow(protocol.models.page(endpoint, cursor))))
    })

    test('is read from any answer: names, or none', () => {
      const entry = fc.oneof(anything, fc.record({ id: anything, name: anything, context_length: anything }))
      const list = fc.oneof(anything, fc.array(entry))
      const page = fc.record({ data: list, models: list, last_id: anything, has_more: anything }, { requiredKeys: [] })
      fc.assert(
        fc.property(bytesOf(fc.oneof(page, list)), (body) => {
          const { models = [], cursor } = protocol.models.read(body) ?? {}
          for (const { name, context = 1 } of models) expect([name.length > 0, context > 0]).toEqual([true, true])
          if (cursor !== undefined) expect(cursor).toBeString()
        }),
        { numRuns: 100 },
      )
    })
  })

  test('an answer other than 200 is a failure', () => {
    const headers = fc.dictionary(fc.constantFrom('retry-after', 'location', 'x-should-retry'), fc.string())
    const { answers } = samplesOf('chat')
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 999 }), headers, bytesOf(answers), (status, given, body) => {
        expect(protocol.failure(status, new Map(Object.entries(given)), body)).toBeInstanceOf(UpstreamFailure)
      }),
      { numRuns: 100 },
    )
  })

  for (const { name } of Object.values(formats)) {
    const dialect = protocol.dialects[name]
    if (dialect !== undefined) describe(`in ${name}`, () => dialectContract(name, dialect, protocol, samplesOf(name)))
    for (const [further, dialects] of Object.entries(protocol.further ?? {})) {
      const own = dialects[name]
      if (own === undefined) continue
      const isSamePath = own.path === dialect?.path
      describe(`in ${name}, with ${further}`, () =>
        dialectContract(name, own, protocol, isSamePath ? samplesOf(name) : nativeSamples(name)))
    }
  }

  function dialectContract(name: FormatName, dialect: Dialect, { framing }: Protocol, samples: UpstreamSamples): void {
    const format = formats[name]
    const { request, streamed } = formatSamples[name]
    const envelopes = envelopesOf(format, formatSamples[name])
    const whole = format.check(encodeSample(formatSamples[name], request), envelopes.whole)

    test('the path stays below the base URL, for any name of a model', () => {
      const segments = dialect.path(endpoint, 'm', false).split('/').length
      fc.assert(
        fc.property(hostile, fc.boolean(), (model, isStream) => {
          const address = dialect.path(endpoint, model, isStream)
          expectBelow(address)
          expect(address.split('/')).toHaveLength(segments)
        }),
      )
    })

    test('the body has no key, and is signed as it is sent', async () => {
      const body = dialect.encode(whole, 'theirs', endpoint)
      const before = Buffer.concat(body).toString()
      expect(before).not.toContain(key)
      await sign({ method: 'POST', path: dialect.path(endpoint, 'theirs', false), body })
      expect(Buffer.concat(body).toString()).toBe(before)
    })

    test('a whole answer is one of the format, or a failure', () => {
      fc.assert(
        fc.property(bytesOf(samples.answers), (body) => {
          const reply = attempt(() => dialect.decode(body, whole))
          if (reply === undefined) return
          expect(format.passThrough.readWhole(reply.body, whole)).toMatchObject({ kind: 'whole', body: reply.body })
        }),
        { numRuns: 40 },
      )
    })

    const { stream } = dialect
    if (stream === undefined) return
    const streaming = (): Ask => format.check(encodeSample(formatSamples[name], streamed), envelopes.streamed)

    async function read(bytes: readonly Uint8Array[]): Promise<ReadStream> {
      const decoder = stream?.(streaming(), endpoint)
      if (decoder === undefined) throw new Error('no stream')
      const reply = streamReply(fakeBody(bytes), decoder, {
        framing: framing ?? serverSentEvents,
        idleMs: 60_000,
        hidden: (error) => error,
      })
      const parts: Part[] = []
      try {
        for (let more = await reply.read(); more !== undefined; more = await reply.read()) parts.push(...more)
        return { parts, failure: undefined }
      } catch (error) {
        expect(error).toBeInstanceOf(UpstreamFailure)
        return { parts, failure: error }
      }
    }

    test('the parts of any stream are JSON objects of one line', () => {
      fc.assert(
        fc.property(fc.array(bytesOf(samples.answers), { maxLength: 4 }), (events) => {
          const decoder = stream(streaming(), endpoint)
          const parts: Part[] = []
          for (const data of events) {
            const decoded = attempt(() => decoder.decode({ event: '', data }))
            // Nothing is read after an event that is malformed.
            if (decoded === undefined || decoded === 'done') break
            parts.push(...decoded)
          }
          for (const { data } of parts.filter((part) => part.data.length > 0)) {
            expect(isObject(parseJsonBytes(data))).toBe(true)
            expect(data.includes(0x0a)).toBe(false)
          }
        }),
        { numRuns: 40 },
      )
    })

    test('a stream is the same, cut into any pieces', async () => {
      for (const events of samples.streams) {
        const bytes = encode(events.map(event).join(''))
        const expected = await read([bytes])
        expect(expected.failure).toBeUndefined()
        await fc.assert(
          fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 30 }), async (places) => {
            const again = await read(cutAt(bytes, places))
            expect(again.failure).toBeUndefined()
            expect(facts(again)).toEqual(facts(expected))
          }),
          { numRuns: 10 },
        )
      }
    })

    test('a stream that ends after any byte is the beginning of it, and an error unless its finish came', async () => {
      for (const events of samples.streams) {
        const bytes = encode(events.map(event).join(''))
        const expected = facts(await read([bytes]))
        let finished = 0
        // Every fifth byte, from another one in each run: all of them take too long.
        const [start = 0] = fc.sample(fc.nat(step - 1), 1)
        for (let end = start; end < bytes.length; end += step) {
          const { parts, failure } = await read([bytes.subarray(0, end)])
          const isFinished = parts.some(({ finishReason }) => finishReason !== undefined)
          if (isFinished) finished++
          expect(isFinished).toBe(failure === undefined)
          expect(facts({ parts }).join()).toBe(expected.slice(0, parts.length).join())
        }
        // Nothing is finished before the event that has the finish.
        expect(finished * step).toBeLessThan(bytes.length / 2)
      }
    })

    test('a stream of any events that ends after any byte is finished by none that did not arrive', async () => {
      const events = fc.array(
        samples.answers.map((value) => event(value)),
        { minLength: 1, maxLength: 4 },
      )
      await fc.assert(
        fc.asyncProperty(events, fc.nat(), async (texts, cut) => {
          const bytes = encode(texts.join(''))
          const arrived = await read([bytes.subarray(0, cut % bytes.length)])
          const whole = await read([bytes])
          const finishes = (of: ReadStream) => of.parts.filter(({ finishReason }) => finishReason !== undefined).length
          if (whole.failure === undefined) expect(finishes(arrived)).toBeLessThanOrEqual(finishes(whole))
          if (arrived.failure === undefined) expect(finishes(arrived)).toBeGreaterThan(0)
        }),
        { numRuns: 40 },
      )
    })
  }
}

/** Sample answers of an upstream that speaks the format itself. For tests. */
export function nativeSamples(name: FormatName): UpstreamSamples {
  const samples = formatSamples[name]
  const { stream, ...format } = formats[name]
  const answers = answersOf(samples)
  const [answer = {}] = fc.sample(answers, 1)
  const envelope = envelopesOf(formats[name], samples).streamed
  const ask = () => format.check(encodeSample(samples, samples.streamed), envelope)
  const parts = stream?.split?.(encodeJson(answer), ask()).filter(({ data }) => data.length > 0)
  const own = samples.events?.map((each) => JSON.stringify(each))
  const streams = own ?? parts?.map(({ data }) => new TextDecoder().decode(data))
  return { answers: fc.oneof(answers, anything), streams: streams === undefined ? [] : [streams] }
}

interface ReadStream {
  readonly parts: readonly Part[]
  readonly failure: unknown
}

/** The facts of parts; their data has ids that each reader makes anew. */
function facts({ parts }: Pick<ReadStream, 'parts'>): readonly string[] {
  return parts.map(({ data, framed, ...others }) => {
    // Only events that arrived alone have it: it is no fact, but must be what would be written.
    if (framed !== undefined) expect(framed).toEqual(formatEvent(data))
    return JSON.stringify(others)
  })
}

/** The address stays below the base URL however it is resolved, and has no key. */
function expectBelow(path: string): void {
  const { pathname, search, hash } = new URL(path, base)
  expect(pathname + search).toBe(path)
  expect(hash).toBe('')
  expect(path.startsWith('/base/v1/')).toBe(true)
  expect(path).toMatch(/^[!-~]+$/)
  expect(path).not.toContain(key)
}

function bytesOf(values: fc.Arbitrary<unknown>): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    { weight: 5, arbitrary: values.map((value) => encode(JSON.stringify(value))) },
    { weight: 1, arbitrary: fc.uint8Array() },
  )
}

/** The result; undefined for an answer that is refused. */
function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) expect(error).toBeInstanceOf(UpstreamFailure)
    return undefined
  }
}
