import { readControlBody, type BodyTimes } from '../entrance/read-body.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { checkEditor, checkEncrypted, checkOwner, type EditorCheck } from './owner-check.ts'
import type {
  BrandsAnswer,
  ProviderChange,
  ProviderEntry,
  ProviderLook,
  ProviderLookRequest,
  ProviderSettings,
  ProviderState,
  ProvidersAnswer,
  ProviderTest,
  ProviderTestRequest,
  WantedProviderChange,
} from './page-api.ts'
import {
  parseProviderChange,
  parseProviderLook,
  parseProviderTest,
  parseSettingsId,
  providerChangeShape,
  providerLookShape,
  providerTestShape,
} from './provider-bodies.ts'

const bodyBytesMax = 64 * 1024

/** Options of {@link providersApi}. All functions may throw {@link WireError}. */
export interface ProvidersApiOptions extends EditorCheck {
  /** The full state, as owners see it. */
  readonly state: () => Promise<ProvidersAnswer>
  /** Resolves when the change has been applied. */
  readonly change: (change: ProviderChange, user: string | undefined) => Promise<ProvidersAnswer>
  /** @param signal aborts when the client has left */
  readonly test: (request: ProviderTestRequest, signal: AbortSignal) => Promise<ProviderTest>
  readonly brands: () => BrandsAnswer
  /** Asks a provider, as it would be, for its models. @param signal aborts when the client has left */
  readonly look: (wanted: ProviderLookRequest, signal: AbortSignal) => Promise<ProviderLook>
  readonly settings: (id: string) => Promise<ProviderSettings>
  /** Time limits of request bodies. */
  readonly bodyTimes: BodyTimes
}

/** The routes below `/api/providers`: the owner's view of the providers (docs/api.md). */
export function providersApi(options: ProvidersApiOptions): readonly Route[] {
  const { state, change, test, brands, look, settings, isOwner, mayEdit, bodyTimes } = options

  const checkMayAdd = (context: HandlerContext) =>
    checkEditor(options, context, 'Providers are added, edited and removed', 'providers.json')

  const shown = (answer: ProvidersAnswer, context: HandlerContext): ProvidersAnswer =>
    isOwner(context) ? { ...answer, ...(mayEdit() ? { mayAdd: true } : {}) } : withoutOwnerFields(answer)

  const bodyOf = ({ request }: HandlerContext) => readControlBody(request, { bytesMax: bodyBytesMax, ...bodyTimes })

  const routes: readonly Omit<Route, 'isPublic'>[] = [
    {
      method: 'GET',
      path: '/api/providers',
      handle: async (context) => jsonResponse(shown(await state(), context), context.id),
    },
    {
      method: 'POST',
      path: '/api/providers',
      body: providerChangeShape,
      handle: async (context) => {
        checkOwner(isOwner, context)
        const wanted = parseProviderChange(await bodyOf(context))
        if (['add', 'edit', 'remove'].includes(wanted.change)) checkMayAdd(context)
        checkKeySafe(wanted, context)
        return jsonResponse(shown(await change(wanted, context.caller.name), context), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/providers/test',
      body: providerTestShape,
      handle: async (context) => {
        checkOwner(isOwner, context)
        const request = parseProviderTest(await bodyOf(context))
        return asking(context, (signal) => test(request, signal))
      },
    },
    {
      method: 'GET',
      path: '/api/providers/brands',
      handle: (context) => {
        checkMayAdd(context)
        return jsonResponse(brands(), context.id)
      },
    },
    {
      method: 'POST',
      path: '/api/providers/look',
      body: providerLookShape,
      handle: async (context) => {
        checkMayAdd(context)
        const wanted = parseProviderLook(await bodyOf(context))
        checkKeySafe(wanted, context)
        return asking(context, (signal) => look(wanted, signal))
      },
    },
    {
      method: 'GET',
      path: '/api/providers/settings',
      handle: async (context) => {
        checkMayAdd(context)
        return jsonResponse(await settings(parseSettingsId(new URL(context.request.url))), context.id)
      },
    },
  ]
  return routes.map((route) => ({ ...route, isPublic: false }))
}

function checkKeySafe(wanted: WantedProviderChange | ProviderLookRequest, { request }: HandlerContext): void {
  const given = 'entry' in wanted ? wanted.entry : 'edit' in wanted ? wanted.edit : undefined
  if (given?.key !== undefined) checkEncrypted(request, 'write the key into keys.env')
}

/** Asks a provider, perhaps after others. */
async function asking<Answer>(context: HandlerContext, ask: (signal: AbortSignal) => Promise<Answer>) {
  context.keepOpen()
  try {
    return jsonResponse(await ask(context.request.signal), context.id)
  } finally {
    context.resetIdleLimit()
  }
}

/**
 * Removes the fields for owners: the file and its faults, addresses, texts of providers, and names from requests of
 * others, such as models that no provider offers.
 */
function withoutOwnerFields({ source, providers }: ProvidersAnswer): ProvidersAnswer {
  return {
    source,
    providers: providers.map(({ baseUrl: _, lastError: __, unpriced: ___, lessons: ____, ...entry }) => ({
      ...entry,
      state: withoutDetail(entry.state),
      coolingModels: offeredOf(entry),
    })),
  }
}

function withoutDetail(state: ProviderState): ProviderState {
  return state.kind === 'failing' ? { kind: 'failing', failure: state.failure } : state
}

function offeredOf({ coolingModels, models = [] }: Pick<ProviderEntry, 'coolingModels' | 'models'>): readonly string[] {
  const offered = new Set(models)
  return coolingModels.filter((model) => offered.has(model))
}
