import { formatEvent, formatEvents } from '../../bytes/event-stream.ts'
import { encode } from '../../bytes/text.ts'
import type { RelayName } from '../ask.ts'
import { checkBody, checkLargeBody } from '../check-body.ts'
import { WireError } from '../error.ts'
import type { Format, StreamFormat, StreamOutput } from '../format.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { answerReader } from './answer.ts'
import type { RelayStream } from './endpoint.ts'
import { jsonCheck, withModel, type RelayRequest } from './request.ts'
import { relayEndpoints } from './table.ts'

/** The formats of the relayed endpoints. */
export const relays: Readonly<Record<RelayName, Format>> = {
  completions: relay('completions'),
  moderations: relay('moderations'),
  rerank: relay('rerank'),
}

/**
 * The format of an endpoint: requests go to providers of the same format as the caller wrote them, but for the model's
 * name, and answers come back as the provider wrote them. Nothing is translated, and cut streams are not resumed.
 */
function relay(name: RelayName): Format {
  const endpoint = relayEndpoints[name]
  const { path, needsSameModel, stopsInDoubt, answer, stream } = endpoint
  const read = jsonCheck(name, endpoint)
  return {
    name,
    path,
    check: (body) => checkBody(body, read),
    checkLarge: (body, pause) => checkLargeBody(body, read, pause),
    needsSameModel,
    isOptional: true,
    ...(stopsInDoubt === undefined ? {} : { stopsInDoubt }),
    unserved: (model) =>
      new WireError(501, 'api_error', 'not_supported', `No provider of the model '${model}' serves ${path}`, {
        headers: { 'x-should-retry': 'false' },
      }),
    errorBody: (error) => JSON.stringify(error),
    passThrough: {
      write: (request: RelayRequest, model) => withModel(request, model),
      readWhole: answerReader(answer),
      ...(stream === undefined ? {} : { reader: stream.reader }),
    },
    ...(stream === undefined ? {} : { stream: streamOf(stream) }),
  }
}

function streamOf({ reader, end, keepAlive, isWholeAnEvent }: RelayStream): StreamOutput & Partial<StreamFormat> {
  return {
    frame: formatEvents,
    end,
    ...(keepAlive === undefined ? {} : { keepAlive }),
    error: (error) => formatEvent(encode(JSON.stringify(error))),
    ...(isWholeAnEvent === undefined
      ? {}
      : {
          split(body) {
            const parts = reader().read({ event: '', data: body })
            if (parts === 'done' || 'kind' in parts) throw new MalformedAnswer('malformed', 'the answer is an error')
            return parts
          },
        }),
  }
}
