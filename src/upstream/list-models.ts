import type { Endpoint, Protocol, UpstreamModel } from '../protocols/protocol.ts'
import { headerBlock, parseOrigin } from '../transport/header-block.ts'
import type { Transport, UpstreamResponse, UpstreamSignal } from '../transport/transport.ts'
import { exchangeFailure } from './transport-failure.ts'

/** For all pages together. */
const bytesMax = 16 * 1024 * 1024
const pagesMax = 100
const modelsMax = 10_000

/** An upstream whose models are listed. */
export interface ListingOptions {
  readonly transport: Transport
  readonly protocol: Protocol
  readonly endpoint: Endpoint
  readonly connectMs: number
}

/** A list of models could not be fetched. The message is safe to show. */
export class ModelListError extends Error {
  override readonly name = 'ModelListError'
}

/**
 * Fetches the models that an upstream offers, page after page: up to 100 pages, 10,000 models and 16 MiB. The list has
 * each model once. A repeated cursor ends the list.
 *
 * @throws {ModelListError} for an answer that is not a page of models; {@link TransportError} without an answer
 */
export async function listModels(options: ListingOptions, signal: UpstreamSignal): Promise<readonly UpstreamModel[]> {
  const models = new Map<string, UpstreamModel>()
  const cursors = new Set<string | undefined>()
  let bytesLeft = bytesMax
  let cursor: string | undefined
  do {
    cursors.add(cursor)
    const response = await getPage(options, signal, cursor, bytesLeft)
    if (response.status !== 200) {
      response.body.cancel()
      throw new ModelListError(`GET /models answered ${response.status}`)
    }
    const body = await response.body.readAll()
    bytesLeft -= body.length
    const page = options.protocol.models.read(body)
    if (page === undefined) throw new ModelListError('GET /models did not answer a list of models')
    for (const model of page.models) if (!models.has(model.name)) models.set(model.name, model)
    cursor = page.cursor
  } while (cursor !== undefined && !cursors.has(cursor) && cursors.size < pagesMax && models.size < modelsMax)
  return [...models.values()].slice(0, modelsMax)
}

/**
 * Requests the first page of models and returns the status of the answer. Tests whether an upstream is reachable and
 * accepts the key, without using tokens.
 *
 * @throws {UpstreamFailure} without an answer
 */
export async function modelsStatus(options: ListingOptions, signal: UpstreamSignal): Promise<number> {
  try {
    const response = await getPage(options, signal)
    response.body.cancel()
    return response.status
  } catch (error) {
    throw exchangeFailure(error)
  }
}

function getPage(
  { transport, protocol, endpoint, connectMs }: ListingOptions,
  signal: UpstreamSignal,
  cursor?: string,
  bodyBytesMax = bytesMax,
): Promise<UpstreamResponse> {
  return transport.request(
    {
      origin: { ...parseOrigin(new URL(endpoint.baseUrl)), owner: endpoint.id },
      method: 'GET',
      path: protocol.models.page(endpoint, cursor),
      headers: headerBlock(protocol.headers(endpoint)),
      body: [],
      connectMs,
      bodyBytesMax,
    },
    signal,
  )
}
