import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../base/json-value.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type {
  AnswerEvent,
  ArgumentsEvent,
  CallEvent,
  FinishEvent,
  FinishReason,
  ImageEvent,
  SealedEvent,
  TextEvent,
} from './answer.ts'
import { chatAnswerReader, readChatAnswer } from './chat/answer-reader.ts'
import { answerWriter, writeAnswer } from './chat/answer-writer.ts'
import type { Sealed } from './conversation.ts'
import { encodeJson, objectOf, parseJsonBytes } from './exact-json.ts'
import { HeldEnding } from './held-ending.ts'
import { MalformedAnswer } from './malformed-answer.ts'
import type { Part } from './part.ts'
import type { UpstreamFormat } from './upstream-format.ts'

/** Sample answers of a format. */
export interface AnswerSamples {
  /** Recorded complete streams, event by event. */
  readonly streams: readonly (readonly JsonObject[])[]
  /** Recorded whole answers. */
  readonly wholes: readonly JsonObject[]
  /** Any object, mostly shaped like events of the format. */
  readonly events: fc.Arbitrary<JsonObject>
}

type Reads = Pick<UpstreamFormat, 'readAnswer' | 'answerReader'>

/** The contract of every format's readers, together with the writers of chat completions. For tests. */
export function answerContract(format: Reads, samples: AnswerSamples): void {
  const { streams, wholes, events } = samples

  describe('the answers of a format', () => {
    test.each(streams.map((stream) => [stream]))('begin once, and end each call and choice once', (stream) => {
      const read = readStream(format, stream)
      expectInOrder(read)
      expect(read[0]?.kind).toBe('start')
      expect(read.some(({ kind }) => kind === 'finish')).toBe(true)
    })

    test.each(streams.map((stream) => [stream]))('cut after any event are never finished, nor is a call', (stream) => {
      const whole = readStream(format, stream)
      const last = stream.findIndex((_, position) => isFinished(readStream(format, stream.slice(0, position + 1))))
      for (let end = 0; end < last; end++) {
        const cut = readStream(format, stream.slice(0, end))
        expect(cut).toEqual(whole.slice(0, cut.length))
        expect(isFinished(cut)).toBe(false)
        for (const call of openCalls(cut)) expect(whole.slice(cut.length)).toContainEqual({ kind: 'callEnd', ...call })
        expect(written([cut]).every(({ finishReason }) => finishReason === undefined)).toBe(true)
      }
    })

    test.each(wholes.map((whole) => [whole]))('that are whole are in order and have an end', (whole) => {
      const read = readWhole(format, whole)
      expectInOrder(read)
      expect(openCalls(read)).toEqual([])
      expect(isFinished(read)).toBe(true)
      const { body } = writeAnswer(read, { model: 'm' })
      expect(gathered(readChatAnswer(objectOf(parseJsonBytes(body))))).toEqual(gathered(read))
    })

    test('are the same after writing them as chat completions and reading those', () => {
      fc.assert(
        fc.property(fc.array(events, { maxLength: 8 }), (stream) => {
          const read = readPieces(format, stream)
          const reader = chatAnswerReader()
          const again = written(read).flatMap(({ data }) => reader.read(objectOf(parseJsonBytes(data))))
          expect(gathered(again)).toEqual(gathered(read.flat()))
        }),
        { numRuns: 100 },
      )
    })

    test('are events in order, or an upstream failure, for any input', () => {
      fc.assert(
        fc.property(fc.array(events, { maxLength: 8 }), events, (stream, whole) => {
          expectInOrder(readStream(format, stream))
          expectInOrder(orNothing(() => readWhole(format, whole)))
        }),
        { numRuns: 100 },
      )
    })
  })
}

/** All events of a stream, up to a failure or the end marker. */
function readStream(format: Reads, stream: readonly JsonObject[]): readonly AnswerEvent[] {
  return readPieces(format, stream).flat()
}

function readPieces(format: Reads, stream: readonly JsonObject[]): readonly (readonly AnswerEvent[])[] {
  const reader = format.answerReader()
  const ending = new HeldEnding()
  const all: (readonly AnswerEvent[])[] = []
  orNothing(() => {
    for (const event of stream) {
      const read = reader.read({ event: '', data: encodeJson(event) })
      if (read === 'done' || 'kind' in read) break
      all.push(ending.hold(read))
    }
    if (ending.isWhole) all.push(ending.release())
    return []
  })
  return all
}

function readWhole(format: Reads, whole: JsonObject): readonly AnswerEvent[] {
  const read = format.readAnswer(encodeJson(whole))
  return 'kind' in read ? [] : read
}

function orNothing(read: () => readonly AnswerEvent[]): readonly AnswerEvent[] {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) expect(error).toBeInstanceOf(UpstreamFailure)
    return []
  }
}

function written(pieces: readonly (readonly AnswerEvent[])[]): readonly Part[] {
  const writer = answerWriter({ model: 'm', usage: 'separate' })
  return pieces.flatMap((events) => writer.write(events))
}

/** The start is first and unique, arguments and ends belong to open calls, and each choice finishes once. */
function expectInOrder(events: readonly AnswerEvent[]): void {
  expect(events.slice(1).filter(({ kind }) => kind === 'start')).toEqual([])
  if (events.length > 0) expect(events[0]?.kind).toBe('start')
  const calls = new Set<string>()
  const finished = new Set<number>()
  for (const event of events) {
    if (event.kind === 'call') {
      expect(calls).not.toContain(nameOf(event))
      calls.add(nameOf(event))
    } else if (event.kind === 'arguments') expect(calls).toContain(nameOf(event))
    else if (event.kind === 'callEnd') expect(calls.delete(nameOf(event))).toBe(true)
    else if (event.kind === 'finish') {
      expect(finished).not.toContain(event.choice)
      finished.add(event.choice)
      expect([...calls].filter((call) => call.startsWith(`${event.choice} `))).toEqual([])
    }
  }
}

function nameOf({ choice, call }: { readonly choice: number; readonly call: number }): string {
  return `${choice} ${call}`
}

function isFinished(events: readonly AnswerEvent[]): boolean {
  return events.some(({ kind }) => kind === 'finish')
}

function openCalls(events: readonly AnswerEvent[]): readonly { readonly choice: number; readonly call: number }[] {
  const ended = events.filter((event) => event.kind === 'callEnd').map(nameOf)
  return events
    .filter((event) => event.kind === 'call')
    .filter((event) => !ended.includes(nameOf(event)))
    .map(({ choice, call }) => ({ choice, call }))
}

type SayingEvent = TextEvent | SealedEvent | CallEvent | ArgumentsEvent | ImageEvent | FinishEvent

/** The whole content of a choice. */
interface Said {
  text: string
  reasoning: string
  refusal: string
  finish: FinishReason | undefined
  readonly seals: Sealed[]
  readonly images: string[]
  readonly calls: Map<number, { readonly head: unknown; text: string }>
}

function gathered(events: readonly AnswerEvent[]) {
  const choices = new Map<number, Said>()
  for (const event of events.filter(isSaying)) {
    const said = choices.get(event.choice) ?? {
      text: '',
      reasoning: '',
      refusal: '',
      finish: undefined,
      seals: [],
      images: [],
      calls: new Map<number, { readonly head: unknown; text: string }>(),
    }
    choices.set(event.choice, said)
    add(said, event)
  }
  const usage = events.findLast((event) => event.kind === 'usage')?.counts
  return { choices, usage: usage && { prompt: usage.prompt, completion: usage.completion, cached: usage.cached } }
}

/** Whether an event has content that formats have in common. */
function isSaying(event: AnswerEvent): event is SayingEvent {
  if ('text' in event && event.kind !== 'sealed' && event.kind !== 'arguments') return event.text !== ''
  return (
    event.kind === 'call' ||
    event.kind === 'sealed' ||
    event.kind === 'image' ||
    event.kind === 'finish' ||
    event.kind === 'arguments'
  )
}

function add(said: Said, event: SayingEvent): void {
  switch (event.kind) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      said[event.kind] += event.text
      break
    case 'finish':
      said.finish = event.reason
      break
    case 'sealed':
      said.seals.push({ text: event.text, opaque: event.opaque })
      break
    case 'image':
      said.images.push(`${event.mediaType} ${event.base64}`)
      break
    case 'call':
      // Without its id: the writer makes one up if the upstream has none.
      said.calls.set(event.call, { head: { name: event.name, opaque: event.opaque }, text: '' })
      break
    case 'arguments': {
      const call = said.calls.get(event.call)
      if (call !== undefined) call.text += event.text
    }
  }
}
