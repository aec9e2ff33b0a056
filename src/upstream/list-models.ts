import type { UpstreamModel } from '../protocols/protocol.ts'
import type { UpstreamResponse, UpstreamSignal } from '../transport/transport.ts'
import { exchangeFailure } from './transport-failure.ts'
import type { Upstream } from './upstream.ts'

/** For all pages together. */
const bytesMax = 16 * 1024 * 1024
const pagesMax = 100
const modelsMax = 10_000

/** A list of models could not be fetched. The message is safe to show. */
export class ModelListError extends Error {
  override readonly name = 'ModelListError'
  /** The key was refused. */
  readonly isKeyRefused: boolean

  constructor(message: string, status?: number) {
    super(message)
    this.isKeyRefused = status === 401 || status === 403
  }
}

/**
 * Fetches the models that an upstream offers, page after page: up to 100 pages, 10,000 models and 16 MiB. The list has
 * each model once. A repeated cursor ends the list.
 *
 * @throws {ModelListError} for an answer that is not a page of models; {@link TransportError} without an answer;
 *   {@link UpstreamFailure} `credential` without credentials
 */
export async function listModels(upstream: Upstream, signal: UpstreamSignal): Promise<readonly UpstreamModel[]> {
  const { base } = upstream
  const { endpoint } = base
  try {
    const models = await readPages(upstream, signal)
    base.settle()
    return models
  } catch (error) {
    if (error instanceof ModelListError && !error.isKeyRefused) await findBase(upstream, signal)
    if (base.endpoint === endpoint) throw error
    return readPages(upstream, signal)
  }
}

/** Finds out whether the API is below `/v1` of the base URL: it lists models there, or refuses the key. */
export async function findBase(upstream: Upstream, signal: UpstreamSignal): Promise<void> {
  await upstream.base.find(async (endpoint) => {
    try {
      const { status, body } = await getPage({ ...upstream, endpoint }, signal)
      if (status === 200) return upstream.protocol.models.read(await body.readAll()) !== undefined
      body.cancel()
      // A firewall says 403 of any path.
      return status === 403 ? undefined : status === 401
    } catch {
      // Without an answer nothing is known, and the next request may ask again.
      return undefined
    }
  })
}

async function readPages(upstream: Upstream, signal: UpstreamSignal): Promise<readonly UpstreamModel[]> {
  const models = new Map<string, UpstreamModel>()
  const cursors = new Set<string | undefined>()
  const asked = { ...upstream, endpoint: upstream.base.endpoint }
  let bytesLeft = bytesMax
  let cursor: string | undefined
  do {
    cursors.add(cursor)
    const response = await getPage(asked, signal, cursor, bytesLeft)
    if (response.status !== 200) {
      response.body.cancel()
      throw new ModelListError(`GET /models answered ${response.status}`, response.status)
    }
    const body = await response.body.readAll()
    bytesLeft -= body.length
    const page = upstream.protocol.models.read(body)
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
export async function modelsStatus(upstream: Upstream, signal: UpstreamSignal): Promise<number> {
  try {
    const response = await getPage({ ...upstream, endpoint: upstream.base.endpoint }, signal)
    response.body.cancel()
    return response.status
  } catch (error) {
    throw exchangeFailure(error)
  }
}

async function getPage(
  { transport, protocol, endpoint, origin, connectMs, sign }: Upstream,
  signal: UpstreamSignal,
  cursor?: string,
  bodyBytesMax = bytesMax,
): Promise<UpstreamResponse> {
  const request = { method: 'GET', path: protocol.models.page(endpoint, cursor), body: [] } as const
  const { block: headers } = await sign(request, signal)
  return transport.request({ ...request, origin, headers, connectMs, bodyBytesMax }, signal)
}
