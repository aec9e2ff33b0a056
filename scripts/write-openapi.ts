import { isRecord, type JsonObject } from '../src/base/json-value.ts'
import { formats } from '../src/formats/format-list.ts'
import type { Format } from '../src/formats/format.ts'
import { openPath } from '../src/http/route.ts'
import type { ValueShape } from '../src/shapes/shape.ts'
import { apiWords } from './openapi/api-words.ts'
import { answerWith } from './openapi/members.ts'
import { pageWords } from './openapi/page-words.ts'
import { formFormats, requestBodies } from './openapi/request-bodies.ts'
import { routeTable, type TableRoute } from './openapi/route-table.ts'
import { sharedSchemas } from './openapi/shared-schemas.ts'
import { eventStream, type RouteWords } from './openapi/words.ts'
import type { WrittenFile } from './write-section.ts'

/**
 * Writes `schema/openapi.json` (docs/decisions/0037-the-description-of-the-api.md): methods, paths, scopes, formats and
 * bodies from the routes and shapes of the code, and what the code does not say from `scripts/openapi/`.
 */

const words = new Map(Object.entries({ ...apiWords, ...pageWords }))

const pageTag = 'page, may change'
const tags = [
  { name: 'models', description: 'Requests to models, and the list of models.' },
  { name: 'keys', description: 'Keys of programs. All but `/v1/key` only with `--auth keys`.' },
  { name: 'status', description: 'Health, metrics and this description.' },
  { name: 'sign-in', description: 'Only with the extension `provider_auth`.' },
  { name: pageTag, description: 'The page and its API, which may change with every version.' },
]

function tagOf({ path, format }: TableRoute): string {
  if (/^\/(?:api\/|assets\/|preview$|$)/.test(path)) return pageTag
  if (path.startsWith('/auth')) return 'sign-in'
  if (path.startsWith('/v1/key')) return 'keys'
  return format === undefined && !path.startsWith('/v1beta') ? 'status' : 'models'
}

/** Ways to send a credential. None is asked for without keys and sign-in. */
const credentials = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A key of this service, or the token of a session.' },
  key: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same, as Anthropic’s clients send it.' },
  googleKey: { type: 'apiKey', in: 'header', name: 'x-goog-api-key', description: 'The same, as Google’s do.' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'token', description: 'The token of a session, of the page.' },
}

const errorObject = { type: 'string', param: 'string or null', code: 'string or null' } as const
/** Errors in the shapes of formats (docs/errors.md). */
export const errorSchemas = {
  Error: ofError(answerWith({ message: 'string', ...errorObject })),
  MessagesError: {
    ...ofError(answerWith({ type: 'string', message: 'string' })),
    properties: { type: { const: 'error' }, error: answerWith({ type: 'string', message: 'string' }) },
  },
  GeminiError: ofError(answerWith({ code: 'number', message: 'string', status: 'string', 'details?': 'array' })),
}

function ofError(error: JsonObject): JsonObject {
  return { type: 'object', properties: { error }, required: ['error'] }
}

/** The schema of errors of a format. */
export function errorNameOf(format: Format | undefined): keyof typeof errorSchemas {
  if (format?.errorBody === formats.messages.errorBody) return 'MessagesError'
  return format?.errorBody === formats.gemini.errorBody ? 'GeminiError' : 'Error'
}

/** The path of a route, in which all open places have names. */
function namedPath({ method, path }: TableRoute): string {
  if (openPath(path) === undefined || path.includes('{')) return path
  const start = `${method} ${path}`
  const found = [...words.keys()].find((each) => each.startsWith(start) && /^\{\w+\}$/.test(each.slice(start.length)))
  if (found === undefined) throw new Error(`scripts/openapi/ has no words of ${method} ${path}`)
  return found.slice(method.length + 1)
}

function shapeSchema(shape: ValueShape<unknown>): JsonObject {
  return shape.schema((inner) => shapeSchema(inner))
}

function bodyOf({ method, format, body }: TableRoute, said: RouteWords): JsonObject {
  const ofFormat = format && { $ref: `#/components/schemas/${format.name}` }
  const schema = body === undefined ? (said.body ?? ofFormat) : shapeSchema(body)
  if (method !== 'POST' || schema === undefined) return {}
  const type = format !== undefined && formFormats.has(format.name) ? 'multipart/form-data' : 'application/json'
  return { requestBody: { ...(said.mayLackBody ? {} : { required: true }), content: { [type]: { schema } } } }
}

function answerOf({ returns, also = {}, does }: RouteWords): JsonObject {
  const media = 'media' in returns && isRecord(returns['media']) ? returns['media'] : undefined
  const texts = Object.entries({ ...media, ...also }).map(([type, description]) => [
    type,
    // Programs read events one by one, as JSON.
    { schema: { ...(type === eventStream ? {} : { type: 'string' }), description } },
  ])
  const json = media === undefined ? { 'application/json': { schema: returns } } : {}
  const content = { ...json, ...Object.fromEntries(texts) }
  return { description: `${does}.`, ...(Object.keys(content).length === 0 ? {} : { content }) }
}

function parametersOf(path: string, { query = {}, needs = [], headers = {} }: RouteWords): JsonObject {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string', minLength: 1 } },
    ...(path.includes('/models/') ? { description: 'May contain `/`, as it is or as `%2F`.' } : {}),
  }))
  const inQuery = Object.entries(query).map(([name, said]) => ({
    ...{ name, in: 'query', ...(needs.includes(name) ? { required: true } : {}) },
    ...(typeof said === 'string' ? { description: said, schema: { type: 'string' } } : { schema: said }),
  }))
  const inHead = Object.entries(headers).map(([name, schema]) => ({ name, in: 'header', required: true, schema }))
  const all = [...inPath, ...inQuery, ...inHead]
  return all.length === 0 ? {} : { parameters: all }
}

function accessOf({ scope, isForEachKey, isForOwners, isPublic }: TableRoute): string {
  if (isPublic) return 'Needs no credential.'
  const owners = isForOwners ? 'For owners. ' : ''
  if (isForEachKey) return 'Keys of all scopes are admitted.'
  return scope === undefined ? `${owners}No key is admitted.` : `${owners}Keys need the scope \`${scope}\`.`
}

/** Such as `postV1ChatCompletions`. */
function operationIdOf(method: string, path: string): string {
  return method.toLowerCase() + path.replace(/\W+(\w)?/g, (_, next: string = '') => next.toUpperCase())
}

function operationOf(route: TableRoute, path: string): JsonObject {
  const said = words.get(`${route.method} ${path}`)
  if (said === undefined) throw new Error(`scripts/openapi/ has no words of ${route.method} ${path}`)
  const error = { $ref: `#/components/responses/${errorNameOf(route.format)}` }
  return {
    operationId: operationIdOf(route.method, path),
    summary: said.does,
    description: [accessOf(route), ...(said.note === undefined ? [] : [said.note])].join(' '),
    tags: [tagOf(route)],
    security: route.isPublic ? [] : [...Object.keys(credentials).map((name) => ({ [name]: [] })), {}],
    ...parametersOf(path, said),
    ...bodyOf(route, said),
    responses: { [said.status ?? 200]: answerOf(said), '4XX': error, '5XX': error },
  }
}

/** The description, of OpenAPI 3.1. */
export function describeApi(): JsonObject {
  const routes = routeTable().filter(({ isRefusal }) => isRefusal !== true)
  const named = routes.map((route) => [namedPath(route), route] as const)
  const unused = [...words.keys()].filter((key) => !named.some(([path, { method }]) => key === `${method} ${path}`))
  if (unused.length > 0) throw new Error(`scripts/openapi/ has words of routes that do not exist: ${unused.join(', ')}`)
  const paths = Array.from(
    Map.groupBy(named, ([path]) => path),
    ([path, each]): [string, JsonObject] => [
      path,
      Object.fromEntries(each.map(([, route]) => [route.method.toLowerCase(), operationOf(route, path)])),
    ],
  )
  const responses = Object.keys(errorSchemas).map((name): [string, JsonObject] => [
    name,
    { description: 'An error.', content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } },
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version: '1',
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'One endpoint for many model providers. Without keys and sign-in no credential is asked for. ' +
        '`HEAD` is answered where `GET` is. Requests to models take more members than are named here.',
    },
    servers: [{ url: '/' }],
    tags,
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: credentials,
      schemas: sharedSchemas({ ...errorSchemas, ...requestBodies }),
      responses: Object.fromEntries(responses),
    },
  }
}

export const apiDescription: WrittenFile = {
  file: 'schema/openapi.json',
  updated: () => `${JSON.stringify(describeApi(), undefined, 1)}\n`,
}
