import { WireError } from '../wire/error.ts'
import { jsonResponse, type Exchange } from './exchange.ts'
import type { ProviderChange, ProviderEntry, ProvidersAnswer, ProviderTest, ProviderTestRequest } from './page-api.ts'
import { parseProviderChange, parseProviderTest } from './provider-bodies.ts'
import { ClientLeft, readBody, type BodyLimits } from './read-body.ts'
import type { Route } from './route.ts'

const bodyBytesMax = 64 * 1024

/** What {@link providersApi} needs. All may throw {@link WireError}. */
export interface ProvidersApiOptions {
  /** Everything, as an owner may see it. */
  readonly state: () => Promise<ProvidersAnswer>
  /** Resolves when the change is in force. */
  readonly change: (change: ProviderChange, user: string | undefined) => Promise<ProvidersAnswer>
  /** @param signal aborts when nobody waits for it any more */
  readonly test: (request: ProviderTestRequest, signal: AbortSignal) => Promise<ProviderTest>
  readonly isOwner: (exchange: Exchange) => boolean
  /** How long a body may take to arrive. */
  readonly bodyTimes: Pick<BodyLimits, 'totalMs' | 'idleMs'>
}

/** `GET /api/providers`, `POST /api/providers` and `POST /api/providers/test`: the owner's view of the providers. */
export function providersApi({ state, change, test, isOwner, bodyTimes }: ProvidersApiOptions): readonly Route[] {
  function checkOwner(exchange: Exchange): void {
    if (!isOwner(exchange))
      throw new WireError(403, 'permission_error', 'owners_only', 'Only owners of this service may do this')
  }

  async function bodyOf({ request }: Exchange): Promise<Uint8Array> {
    try {
      return await readBody(request, { bytesMax: bodyBytesMax, ...bodyTimes })
    } catch (error) {
      throw error instanceof ClientLeft
        ? new WireError(499, 'invalid_request_error', 'client_left', 'The client left')
        : error
    }
  }

  return [
    {
      method: 'GET',
      path: '/api/providers',
      isPublic: false,
      async handle(exchange) {
        const answer = await state()
        return jsonResponse(isOwner(exchange) ? answer : forEverybody(answer), exchange.id)
      },
    },
    {
      method: 'POST',
      path: '/api/providers',
      isPublic: false,
      async handle(exchange) {
        checkOwner(exchange)
        return jsonResponse(await change(parseProviderChange(await bodyOf(exchange)), exchange.user), exchange.id)
      },
    },
    {
      method: 'POST',
      path: '/api/providers/test',
      isPublic: false,
      async handle(exchange) {
        checkOwner(exchange)
        const request = parseProviderTest(await bodyOf(exchange))
        // It may wait for others first.
        exchange.keepOpen()
        try {
          return jsonResponse(await test(request, exchange.request.signal), exchange.id)
        } finally {
          exchange.letClose()
        }
      },
    },
  ]
}

/**
 * Without what only owners see: where the file is and what is wrong with it, addresses, and what others asked for, such
 * as models that nobody offers.
 */
function forEverybody({ source, providers }: ProvidersAnswer): ProvidersAnswer {
  return {
    source,
    providers: providers.map(({ baseUrl: _, lastError: __, ...entry }) => ({
      ...entry,
      coolingModels: offeredOf(entry),
    })),
  }
}

function offeredOf({ coolingModels, models = [] }: Pick<ProviderEntry, 'coolingModels' | 'models'>): readonly string[] {
  const offered = new Set(models)
  return coolingModels.filter((model) => offered.has(model))
}
