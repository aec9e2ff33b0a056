import type { ListedModel, ListedOffer } from '../gateway/directory.ts'
import { jsonResponse, type Exchange } from './exchange.ts'
import type { ModelEntry, ModelOffer, ModelsAnswer, ReloadNotice } from './page-api.ts'
import type { Route } from './route.ts'

/** What {@link modelsApi} reads, each time it is asked. */
export interface ModelsApiOptions {
  readonly models: () => readonly ListedModel[]
  /** Nothing is configured and nothing was found. */
  readonly isEchoOnly: () => boolean
  /** Where providers.json is, or would be. */
  readonly file: string
  /** Why the file as it is now is not in force. */
  readonly notice: () => ReloadNotice | undefined
  readonly isOwner: (exchange: Exchange) => boolean
}

/** `GET /api/models`: every model with all who offer it, for the page. */
export function modelsApi({ models, isEchoOnly, file, notice, isOwner }: ModelsApiOptions): readonly Route[] {
  function answer(exchange: Exchange): ModelsAnswer {
    const all = { models: models().map(entryOf), isEchoOnly: isEchoOnly() }
    if (!isOwner(exchange)) return all
    const now = notice()
    return { ...all, file, ...(now === undefined ? {} : { notice: now }) }
  }
  return [
    {
      method: 'GET',
      path: '/api/models',
      isPublic: false,
      handle: (exchange) => jsonResponse(answer(exchange), exchange.id),
    },
  ]
}

function entryOf({ name, offers }: ListedModel): ModelEntry {
  return { name, offers: offers.map(offerOf) }
}

function offerOf({ provider, model: { upstream, context, maxOutput, input, price } }: ListedOffer): ModelOffer {
  return {
    provider,
    upstream,
    ...(context === undefined ? {} : { context }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    ...(input === undefined ? {} : { input }),
    ...(price === undefined ? {} : { price }),
  }
}
