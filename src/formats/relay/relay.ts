import { formatEvent, formatEvents } from '../../bytes/event-stream.ts'
import { runInSlices, runThrough, sliceBytes } from '../../bytes/pace.ts'
import { encode, utf8 } from '../../bytes/text.ts'
import { answerLimiter, otherLimits } from '../answer-limit.ts'
import type { RelayName } from '../ask.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { demandReader, formDemandReader } from '../demand.ts'
import { objectOf, parseJson, textOf } from '../exact-json.ts'
import type { Format, PassThrough, StreamFormat, StreamOutput, AnsweredError } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { WholeReply } from '../reply.ts'
import { answerReader } from './answer.ts'
import { anyAnswers, type RelayEndpoint, type RelayStream } from './endpoint.ts'
import { formCheck } from './form-request.ts'
import { jsonCheck } from './json-request.ts'
import { plainText } from './media.ts'
import { billedAs, type RelayRequest } from './request.ts'
import { relayEndpoints } from './table.ts'

const limitCompletion = answerLimiter({ names: ['max_tokens'], others: otherLimits })

/** The formats of the relayed endpoints. */
export const relays: Readonly<Record<RelayName, Format>> = {
  completions: relay('completions'),
  moderations: relay('moderations'),
  rerank: relay('rerank'),
  image_generations: relay('image_generations'),
  image_edits: relay('image_edits'),
  image_variations: relay('image_variations'),
  speech: relay('speech'),
  transcriptions: relay('transcriptions'),
  translations: relay('translations'),
}

/**
 * The format of an endpoint: requests go to providers of the same format as the caller wrote them, but for the model's
 * name, and answers come back as the provider wrote them. Nothing is translated, and cut streams are not resumed.
 */
function relay(name: RelayName): Format {
  const endpoint = relayEndpoints[name]
  const { path, stream, request, demand = anyAnswers, isText } = endpoint
  return {
    ...factsOf(endpoint),
    name,
    ...checksOf(name, endpoint),
    isOptional: true,
    isText: isText === true,
    ...(demand.answerTokens === 'none' ? { isPromptOnly: true } : {}),
    demand:
      request.kind === 'form'
        ? formDemandReader(demand)
        : demandReader({ ...demand, hasOtherUnits: isText === undefined }),
    ...(isText === undefined ? {} : { limitAnswer: limitCompletion }),
    unserved: `serves ${path}`,
    errorBody: (error) => JSON.stringify(error),
    passThrough: passThroughOf(endpoint),
    ...(stream === undefined ? {} : { stream: streamOf(stream) }),
  }
}

type Facts = 'path' | 'needsSameModel' | 'requestBytesMax' | 'answerBytesMax' | 'stopsInDoubt' | 'startsLate'

/** The facts that a format has as its endpoint has them. */
function factsOf(endpoint: RelayEndpoint): Pick<Format, Facts> {
  const { request: _request, defaultModel: _defaultModel, answer: _answer, media: _media, ...others } = endpoint
  const { stream: _stream, demand: _demand, isText: _isText, ...facts } = others
  return facts
}

function checksOf(name: RelayName, endpoint: RelayEndpoint): Pick<Format, 'check' | 'checkLarge'> {
  const { request } = endpoint
  if (request.kind === 'json') {
    const read = jsonCheck(name, endpoint, request)
    return {
      check: (body) => checkBody(body, read),
      checkLarge: (body, pause) => checkLargeBody(body, read, pause),
    }
  }
  const read = formCheck(name, endpoint, request)
  return {
    check: (body, envelope) => runThrough(read(body, envelope, { limit: Infinity })),
    checkLarge: (body, pause, envelope) => runInSlices(read(body, envelope, { limit: sliceBytes }), pause),
  }
}

function passThroughOf({ answer, media, stream }: RelayEndpoint): PassThrough {
  return {
    write: (request: RelayRequest, model) => billedAs(request, model),
    readWhole: media?.answer === plainText ? textReader(answerReader(answer)) : answerReader(answer),
    ...(media === undefined ? {} : { media: ({ isMedia }: RelayRequest) => (isMedia ? media.answer : undefined) }),
    ...(stream === undefined ? {} : { reader: stream.reader }),
  }
}

function streamOf({ reader, end, keepAlive, isWholeAnEvent }: RelayStream): StreamOutput & Partial<StreamFormat> {
  return {
    frame: formatEvents,
    end: end ?? new Uint8Array(),
    ...(keepAlive === undefined ? {} : { keepAlive }),
    error: (error) => formatEvent(encode(JSON.stringify(error))),
    ...(isWholeAnEvent === undefined
      ? {}
      : {
          split(body, ask) {
            const parts = reader(ask).read({ event: '', data: body })
            if (parts === 'done' || 'kind' in parts) throw new MalformedAnswer('malformed', 'the answer is an error')
            return parts
          },
        }),
  }
}

type ReadAnswer<Asked> = (body: Uint8Array, ask: Asked) => WholeReply | AnsweredError

/**
 * Some servers answer a request for text with JSON (https://github.com/vllm-project/vllm/issues/49095): a string is the
 * text, and for the format `text` also the member `text` of an object. Other answers are read as JSON.
 */
function textReader(read: (body: Uint8Array) => WholeReply | AnsweredError): ReadAnswer<RelayRequest> {
  return (body, { isMedia, mediaAsked }) => {
    const quoted = isMedia && body[0] === quote ? textOf(parsed(body)) : undefined
    if (quoted !== undefined) return { kind: 'whole', usage: undefined, ...textBody(quoted) }
    const whole = read(body)
    if (whole.kind === 'error' || !isMedia || mediaAsked !== 'text') return whole
    return { ...whole, ...textBody(textOf(objectOf(parsed(body))['text']) ?? '') }
  }
}

const quote = 0x22

function textBody(text: string): Pick<WholeReply, 'body' | 'contentType' | 'isEmpty'> {
  return { body: encode(text), contentType: 'text/plain; charset=utf-8', isEmpty: text === '' }
}

function parsed(body: Uint8Array): unknown {
  try {
    return parseJson(utf8(body))
  } catch {
    // The reader of JSON names the fault.
    return undefined
  }
}
