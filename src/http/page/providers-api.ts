import { readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkOwner, type OwnerCheck } from './owner-check.ts'
import type { ProviderChange, ProviderEntry, ProvidersAnswer, ProviderTest, ProviderTestRequest } from './page-api.ts'
import { parseProviderChange, parseProviderTest } from './provider-bodies.ts'

const bodyBytesMax = 64 * 1024

/** Options of {@link providersApi}. All functions may throw {@link WireError}. */
export interface ProvidersApiOptions {
  /** The full state, as owners see it. */
  readonly state: () => Promise<ProvidersAnswer>
  /** Resolves when the change has been applied. */
  readonly change: (change: ProviderChange, user: string | undefined) => Promise<ProvidersAnswer>
  /** @param signal aborts when the client has left */
  readonly test: (request: ProviderTestRequest, signal: AbortSignal) => Promise<ProviderTest>
  readonly isOwner: OwnerCheck
  /** Time limits of request bodies. */
  readonly bodyTimes: BodyTimes
}

/** `GET /api/providers`, `POST /api/providers` and `POST /api/providers/test`: the owner's view of the providers. */
export function providersApi({ state, change, test, isOwner, bodyTimes }: ProvidersApiOptions): readonly Route[] {
  function bodyOf({ request }: HandlerContext): Promise<Uint8Array> {
    return readControlBody(request, { bytesMax: bodyBytesMax, ...bodyTimes })
  }

  return [
    {
      method: 'GET',
      path: '/api/providers',
      isPublic: false,
      async handle(context) {
        const answer = await state()
        return jsonResponse(isOwner(context) ? answer : withoutOwnerFields(answer), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/providers',
      isPublic: false,
      async handle(context) {
        checkOwner(isOwner, context)
        return jsonResponse(await change(parseProviderChange(await bodyOf(context)), context.user), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/providers/test',
      isPublic: false,
      async handle(context) {
        checkOwner(isOwner, context)
        const request = parseProviderTest(await bodyOf(context))
        // The test may wait for other tests first.
        context.keepOpen()
        try {
          return jsonResponse(await test(request, context.request.signal), context.id)
        } finally {
          context.resetIdleLimit()
        }
      },
    },
  ]
}

/**
 * Removes the fields for owners: the file and its faults, addresses, and names from requests of others, such as models
 * that no provider offers.
 */
function withoutOwnerFields({ source, providers }: ProvidersAnswer): ProvidersAnswer {
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
