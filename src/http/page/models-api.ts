import { firstChatModel, isChatModel } from '../../base/chat-model.ts'
import type { ListedModel, ListedOffer } from '../../formats/model.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import type { ModelEntry, ModelOffer, ModelsAnswer, ReloadNotice } from './page-api.ts'

/** Sources of {@link modelsApi}, read at every request. */
export interface ModelsApiOptions {
  readonly models: () => readonly ListedModel[]
  /** No provider is configured or was found. */
  readonly isEchoOnly: () => boolean
  /** Path of providers.json, whether it exists or not. */
  readonly file: string
  /** Faults of a changed file that was not applied. */
  readonly notice: () => ReloadNotice | undefined
  readonly isOwner: (context: HandlerContext) => boolean
}

/** `GET /api/models`: every model with the providers that offer it, for the page. */
export function modelsApi({ models, isEchoOnly, file, notice, isOwner }: ModelsApiOptions): readonly Route[] {
  function answer(context: HandlerContext): ModelsAnswer {
    const listed = models()
    const shown = new Set(listed.filter(isShown))
    const first = firstChatModel(listed)
    const all = {
      models: listed.map((model) => ({
        ...entryOf(model),
        ...(shown.size === 0 || shown.has(model) ? {} : { isHidden: true as const }),
      })),
      ...(first === undefined ? {} : { firstModel: first.name }),
      isEchoOnly: isEchoOnly(),
    }
    if (!isOwner(context)) return all
    const now = notice()
    return { ...all, file, ...(now === undefined ? {} : { notice: now }) }
  }
  return [
    {
      method: 'GET',
      path: '/api/models',
      isPublic: false,
      handle: (context) => jsonResponse(answer(context), context.id),
    },
  ]
}

/** Names are only a hint: a model that the owner configured is always shown. */
function isShown({ name, offers }: ListedModel): boolean {
  return isChatModel(name) || offers.some(({ model }) => model.isLearned !== true)
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
