import { headerBlock, parseOrigin } from '../transport/header-block.ts'
import type { Transport, UpstreamResponse, UpstreamSignal } from '../transport/transport.ts'
import { isRecord } from '../wire/json-value.ts'
import type { Connection } from './protocol.ts'
import { exchangeFailure } from './transport-failure.ts'

const bodyBytesMax = 16 * 1024 * 1024
const modelsMost = 10_000
const nameLengthMost = 256
/** Control characters, direction overrides and the like: no honest name has them. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** What an upstream says of one of its models. */
export interface UpstreamModel {
  readonly name: string
  /** Tokens, where it says. */
  readonly context?: number
}

/** A list of models could not be fetched. The message is safe to show. */
export class ModelListError extends Error {
  override readonly name = 'ModelListError'
}

/**
 * Asks an upstream which models it offers: `GET {base_url}/models`, read in the shapes in use (`data[].id`,
 * `models[].name`, a bare array).
 *
 * @param headers the request headers its protocol sends
 * @throws {ModelListError} when it answers otherwise; {@link TransportError} when it does not answer
 */
export async function listModels(
  transport: Transport,
  connection: Connection,
  headers: Readonly<Record<string, string>>,
  connectMs: number,
  signal: UpstreamSignal,
): Promise<readonly UpstreamModel[]> {
  const response = await getModels(transport, connection, headers, connectMs, signal)
  if (response.status !== 200) {
    response.body.cancel()
    throw new ModelListError(`GET /models answered ${response.status}`)
  }
  const models = modelsOf(parse(await response.body.readAll()))
  if (models === undefined) throw new ModelListError('GET /models answered something that is no list of models')
  return models
}

/**
 * The status an upstream answers `GET {base_url}/models` with: whether it can be reached and takes the key, without a
 * token spent.
 *
 * @throws {UpstreamFailure} when it does not answer
 */
export async function modelsStatus(
  transport: Transport,
  connection: Connection,
  headers: Readonly<Record<string, string>>,
  connectMs: number,
  signal: UpstreamSignal,
): Promise<number> {
  try {
    const response = await getModels(transport, connection, headers, connectMs, signal)
    response.body.cancel()
    return response.status
  } catch (error) {
    throw exchangeFailure(error)
  }
}

function getModels(
  transport: Transport,
  { id, baseUrl }: Connection,
  headers: Readonly<Record<string, string>>,
  connectMs: number,
  signal: UpstreamSignal,
): Promise<UpstreamResponse> {
  const url = new URL(baseUrl)
  return transport.request(
    {
      origin: { ...parseOrigin(url), owner: id },
      method: 'GET',
      path: `${url.pathname.replace(/\/+$/, '')}/models`,
      headers: headerBlock(headers),
      body: [],
      connectMs,
      bodyBytesMax,
    },
    signal,
  )
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined // Told by the caller as "no list of models".
  }
}

function modelsOf(answer: unknown): readonly UpstreamModel[] | undefined {
  const list = isRecord(answer) ? (answer.data ?? answer.models) : answer
  if (!Array.isArray(list)) return undefined
  return list.slice(0, modelsMost).flatMap((entry: unknown) => modelOf(entry) ?? [])
}

function modelOf(entry: unknown): UpstreamModel | undefined {
  if (!isRecord(entry)) return undefined
  const id = entry.id ?? entry.name
  if (typeof id !== 'string') return undefined
  const name = id.replace(/^models\//, '')
  if (name === '' || name.length > nameLengthMost || invisible.test(name)) return undefined
  const context =
    entry.context_length ??
    entry.context_window ??
    entry.max_model_len ??
    entry.inputTokenLimit ??
    entry.max_context_length
  return typeof context === 'number' && Number.isSafeInteger(context) && context > 0 ? { name, context } : { name }
}
