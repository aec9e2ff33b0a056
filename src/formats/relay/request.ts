import { encode } from '../../bytes/text.ts'
import type { Ask, Member, RelayName } from '../ask.ts'
import { untranslatable } from '../untranslatable.ts'
import type { RelayEndpoint } from './endpoint.ts'

/** A checked request of a relayed endpoint. */
export interface RelayRequest extends Ask {
  readonly format: RelayName
  readonly modelAt: ModelPlace
  /** Its answer is neither JSON nor events. */
  readonly isMedia: boolean
  /** The value that asks for such an answer, such as `text`. Absent: it needs none. */
  readonly mediaAsked?: string | undefined
}

/** The place of a model's name in a body; empty where the caller gave none. */
export interface ModelPlace {
  readonly start: number
  readonly end: number
  /** Around a name that is added. */
  readonly before: string
  readonly after: string
  /** The name is a JSON string. Otherwise it is text. */
  readonly isJson: boolean
}

/** Members found in a request, in JSON or in a form. */
export interface ReadRequest {
  readonly body: Uint8Array
  /** As the caller named it, or the default one. */
  readonly model: string
  readonly modelAt: ModelPlace
  readonly members: readonly Member[]
  readonly headers?: Ask['headers']
  /** The text of a member or part; undefined without it. */
  textOf(name: string): string | undefined
}

/** Makes the request of what was found. */
export function relayRequest(
  format: RelayName,
  { stream, media }: RelayEndpoint,
  { body, model, modelAt, members, headers = {}, textOf }: ReadRequest,
): RelayRequest {
  const hasEvents = stream !== undefined && textOf(stream.member) === String(stream.value)
  const { answer, asked } = media ?? {}
  const mediaAsked = asked && textOf(asked.member)
  const isMedia = answer !== undefined && !hasEvents && (asked === undefined || asked.values.includes(mediaAsked ?? ''))
  const all = isMedia ? { ...headers, accept: '*/*' } : headers
  return {
    format,
    body,
    model,
    stream: hasEvents || (isMedia && answer.isStreamed),
    members,
    modelAt,
    isMedia,
    mediaAsked,
    ...(Object.keys(all).length === 0 ? {} : { headers: all }),
  }
}

const controlCharacters = /[\0-\x1f\x7f]/

/**
 * The caller's bytes with this name of the model, in pieces.
 *
 * @throws {UpstreamFailure} `bad_request` for a name that a form cannot have
 */
export function billedAs({ body, model: asked, modelAt }: RelayRequest, name: string): readonly Uint8Array[] {
  const { start, end, before, after, isJson } = modelAt
  if (name === asked && start < end) return [body]
  if (!isJson && controlCharacters.test(name)) throw untranslatable('The name of the model')
  const written = encode(before + (isJson ? JSON.stringify(name) : name) + after)
  return [body.subarray(0, start), written, body.subarray(end)].filter(({ length }) => length > 0)
}
