import type { JsonObject } from '../../base/json-value.ts'
import type { ModelWriter } from '../format.ts'
import type { ListedModel } from '../model.ts'
import { resourceName } from './models.ts'

const pageSizeDefault = 50
const pageSizeMax = 1_000

/** Models as Google lists them (https://ai.google.dev/api/models). `pageToken` counts the models before a page. */
export const geminiModels: ModelWriter = {
  path: '/v1beta/models',
  modelPath: '/v1beta/models/',
  list(models, query) {
    const start = numberIn(query.get('pageToken')) ?? 0
    const size = Math.min(numberIn(query.get('pageSize')) || pageSizeDefault, pageSizeMax)
    const next = start + size
    return {
      models: models.slice(start, next).map(writeModel),
      ...(next < models.length ? { nextPageToken: String(next) } : {}),
    }
  },
  one: writeModel,
}

function writeModel({ name, offers }: ListedModel): JsonObject {
  const [{ model }] = offers
  return {
    name: resourceName(name),
    displayName: name,
    supportedGenerationMethods: ['generateContent', 'embedContent'],
    ...(model.context === undefined ? {} : { inputTokenLimit: model.context }),
    ...(model.maxOutput === undefined ? {} : { outputTokenLimit: model.maxOutput }),
  }
}

/** An integer of 0 or more; undefined for anything else, which counts as absent. */
function numberIn(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
