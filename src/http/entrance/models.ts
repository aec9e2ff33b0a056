import { accessibleModels } from '../../formats/access.ts'
import { invalidRequest, WireError } from '../../formats/error.ts'
import { formats } from '../../formats/format-list.ts'
import type { Format, ModelWriter } from '../../formats/format.ts'
import { modelFacts, type ListedModel } from '../../formats/model.ts'
import { shown } from '../../formats/request-fault.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'

/** `GET` of all models and of one. Its name may contain `/`, also as `%2F`. Formats may have their own shape. */
export function modelRoutes(gateway: () => Gateway, startedAt: number): readonly Route[] {
  const common = commonModels(startedAt)
  const own = Object.values(formats).flatMap((format): readonly Route[] => {
    const { modelWriter } = format
    return modelWriter === undefined ? [] : routesOf(modelWriter, { format }, () => modelWriter)
  })
  const shape = { format: formats.chat, formatBy: formatOfClient }
  return [...routesOf(common, shape, (headers) => formatOfClient(headers)?.modelWriter ?? common), ...own]

  function routesOf(
    { path, modelPath }: ModelWriter,
    errors: Pick<Route, 'format' | 'formatBy'>,
    writerFor: (headers: Headers) => ModelWriter,
  ): readonly Route[] {
    return [
      {
        method: 'GET',
        path,
        isPublic: false,
        scope: 'models:read',
        ...errors,
        handle({ request, id, caller }) {
          const query = new URL(request.url).searchParams
          return jsonResponse(
            writerFor(request.headers).list(accessibleModels(gateway().models(), caller.access), query),
            id,
          )
        },
      },
      {
        method: 'GET',
        path: modelPath,
        isPublic: false,
        scope: 'models:read',
        ...errors,
        handle({ request, path: asked, id, caller }) {
          const name = decode(asked.slice(modelPath.length))
          const found = name === undefined ? undefined : gateway().model(name)
          const [model] = found === undefined ? [] : accessibleModels([found], caller.access)
          if (model === undefined) throw notFound(name)
          return jsonResponse(writerFor(request.headers).one(model), id)
        },
      },
    ]
  }
}

/** Models as the clients of OpenAI and Anthropic read them. */
function commonModels(startedAt: number): ModelWriter {
  return {
    path: '/v1/models',
    modelPath: '/v1/models/',
    list(all, query) {
      const { models, hasMore } = listPage(all, query)
      return {
        object: 'list',
        data: models.map((model) => wireModel(model, startedAt)),
        has_more: hasMore,
        first_id: models[0]?.name ?? null,
        last_id: models.at(-1)?.name ?? null,
      }
    },
    one: (model) => wireModel(model, startedAt),
  }
}

/** The format whose clients send a header of this request. */
function formatOfClient(headers: Headers): Format | undefined {
  return Object.values(formats).find(({ clientHeader }) => clientHeader !== undefined && headers.has(clientHeader))
}

/** A model as its first provider describes it, with the members that OpenAI's and Anthropic's clients read. */
function wireModel({ name, offers }: ListedModel, startedAt: number): Record<string, unknown> {
  const [{ provider, model }] = offers
  const created = Math.floor(startedAt / 1000)
  return {
    id: name,
    object: 'model',
    type: 'model',
    display_name: name,
    created,
    created_at: new Date(created * 1000).toISOString(),
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

/** One page of a list of models. */
interface ListPage<Model> {
  readonly models: readonly Model[]
  /** More follow; with `before_id`: more precede. */
  readonly hasMore: boolean
}

/**
 * The page that Anthropic's query names: at most `limit` models after `after_id`, or before `before_id`. All models
 * without a query; other parameters are ignored.
 *
 * @throws {WireError} 400 for a limit below 1, and for an id that is not in the list
 */
export function listPage<Model extends { readonly name: string }>(
  models: readonly Model[],
  query: URLSearchParams,
): ListPage<Model> {
  const limit = limitOf(query)
  const before = query.get('before_id')
  const after = query.get('after_id')
  if (before !== null) {
    const end = indexOf(models, before, 'before_id')
    const start = Math.max(0, end - limit)
    return { models: models.slice(start, end), hasMore: start > 0 }
  }
  const start = after === null ? 0 : indexOf(models, after, 'after_id') + 1
  return { models: models.slice(start, start + limit), hasMore: models.length - start > limit }
}

function limitOf(query: URLSearchParams): number {
  const given = query.get('limit')
  if (given === null || given === '') return Number.MAX_SAFE_INTEGER
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given)
  throw invalidRequest('invalid_value', `'limit' must be an integer of 1 or more; found '${shown(given)}'.`, 'limit')
}

function indexOf(models: readonly { readonly name: string }[], name: string, parameter: string): number {
  const index = models.findIndex((model) => model.name === name)
  if (index === -1) throw unknownId(name, parameter)
  return index
}

function unknownId(name: string, parameter: string): WireError {
  const message = `'${parameter}' must be the id of a listed model; found '${shown(name)}'.`
  return invalidRequest('invalid_value', message, parameter)
}
