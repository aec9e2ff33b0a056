import { WireError } from '../../formats/error.ts'
import { formats } from '../../formats/format-list.ts'
import { modelFacts } from '../../formats/model.ts'
import type { ListedModel } from '../../gateway/directory.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'

const modelPath = '/v1/models/'

/** `GET /v1/models` and `GET /v1/models/{id}`; an id may contain `/`, as it is or as `%2F`. */
export function modelRoutes(gateway: () => Gateway, startedAt: number): readonly Route[] {
  const created = Math.floor(startedAt / 1000)
  return [
    {
      method: 'GET',
      path: '/v1/models',
      isPublic: false,
      format: formats.chat,
      handle: ({ id }) =>
        jsonResponse(
          {
            object: 'list',
            data: gateway()
              .models()
              .map((model) => wireModel(model, created)),
          },
          id,
        ),
    },
    {
      method: 'GET',
      path: modelPath,
      isPublic: false,
      format: formats.chat,
      handle: ({ path, id }) => {
        const name = decode(path.slice(modelPath.length))
        const model = name === undefined ? undefined : gateway().model(name)
        if (model === undefined) throw notFound(name)
        return jsonResponse(wireModel(model, created), id)
      },
    },
  ]
}

/** A model as its first provider describes it. */
function wireModel({ name, offers }: ListedModel, created: number): Record<string, unknown> {
  const [{ provider, model }] = offers
  return {
    id: name,
    object: 'model',
    created,
    owned_by: provider,
    providers: offers.map((offer) => offer.provider),
    ...(model.input === undefined ? {} : { input: model.input }),
    ...modelFacts(model),
  }
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined // Malformed escapes: no model has such a name.
  }
}

function notFound(name: string | undefined): WireError {
  const shown = name === undefined || name.length > 256 || /[\0-\x1f\x7f]/.test(name) ? '' : ` '${name}'`
  return new WireError(
    404,
    'invalid_request_error',
    'model_not_found',
    `The model${shown} was not found in any enabled provider`,
    { param: 'model' },
  )
}
