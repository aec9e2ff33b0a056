import { describe, expect, test } from 'bun:test'
import { processorMs } from '../base/testing.ts'
import { WireError } from '../formats/error.ts'
import { formats } from '../formats/format-list.ts'
import { router, type Route } from './route.ts'

function route(method: Route['method'], path: string): Route {
  const format = path.startsWith('/v1/') ? { format: formats.chat } : {}
  return { method, path, isPublic: false, ...format, handle: () => new Response(`${method} ${path}`) }
}

const routes = router([
  route('POST', '/v1/chat/completions'),
  route('GET', '/v1/models'),
  route('POST', '/v1/models/{model}:count'),
  route('GET', '/v1/models/'),
  route('POST', '/v2/models/{model}:count'),
  route('GET', '/both'),
  route('POST', '/both'),
  route('GET', '/'),
])

function failure(method: string, path: string): WireError {
  try {
    routes.find(method, path)
  } catch (error) {
    if (error instanceof WireError) return error
    throw error
  }
  throw new Error('a route was found')
}

describe('a router', () => {
  test.each([
    ['/v1/chat/completions', true],
    ['/v1/models/gpt-4o', true],
    ['/v1/nothing', true],
    ['/v1', true],
    ['/v1nowhere', false],
    ['/both', false],
    ['/', false],
  ])('tells whether %s belongs to the API: %p', (path, isApi) => {
    expect(routes.formatOf(path) !== undefined).toBe(isApi)
  })

  const found: readonly (readonly [string, string, string])[] = [
    ['POST', '/v1/chat/completions', 'POST /v1/chat/completions'],
    ['GET', '/v1/models', 'GET /v1/models'],
    ['GET', '/v1/models/gpt-4o', 'GET /v1/models/'],
    ['GET', '/v1/models/openai/gpt-4o', 'GET /v1/models/'],
    ['POST', '/v1/models/gpt-4o:count', 'POST /v1/models/{model}:count'],
    ['POST', '/v1/models/local/llama3:8b:count', 'POST /v1/models/{model}:count'],
    ['GET', '/v1/models/gpt-4o:count', 'GET /v1/models/'],
    ['HEAD', '/v1/models', 'GET /v1/models'],
    ['HEAD', '/v1/models/a', 'GET /v1/models/'],
    ['POST', '/both', 'POST /both'],
    ['GET', '/', 'GET /'],
  ]
  test.each(found)('sends %s %s to %s', async (method, path, expected) => {
    const { method: routeMethod, path: routePath } = routes.find(method, path)
    expect(`${routeMethod} ${routePath}`).toBe(expected)
  })

  const missing = [
    '/v1',
    '/v1/',
    '/v1/chat',
    '/v1/chat/completions/',
    '/V1/models',
    '/v1/models/',
    '/v2/models/:count',
    '/v2/models/a:counts',
    '/models/',
    '/nowhere',
    '/v1//models',
    '/constructor',
    '',
  ]
  test.each(missing)('finds nothing at %j', (path) => {
    expect(failure('GET', path)).toMatchObject({ status: 404, type: 'invalid_request_error', code: 'not_found' })
    expect(routes.methods(path)).toEqual([])
  })

  test.each([
    ['/chat/completions', '/v1/chat/completions'],
    ['/v1/chat/completions/', '/v1/chat/completions'],
    ['/v1/v1/chat/completions', '/v1/chat/completions'],
    ['/v1//models', '/v1/models'],
    ['/V1/Models', '/v1/models'],
    ['/api/v1/models/', '/v1/models'],
    ['/models/Some/Model', '/v1/models/Some/Model'],
    ['/v1/v1/models/Some', '/v1/models/Some'],
    ['/openai/deployments/x/chat/completions', '/v1/chat/completions'],
    ['/v1/chat/completion', '/v1/chat/completions'],
    ['/v1/chat-completions', '/v1/chat/completions'],
    ['/chat/completion', '/v1/chat/completions'],
    ['/v1/modles', '/v1/models'],
  ])('names %j, and the nearest path there is, %j', (path, nearest) => {
    const { message } = failure('POST', path)
    expect(message).toBe(`There is nothing at '${path}'. Did you mean '${nearest}'? The API's base URL ends in /v1`)
  })

  test('names the paths of the API where none of them is near', () => {
    const answered = 'This service answers POST /v1/chat/completions, GET /v1/models, POST /v1/models/{model}:count'
    expect(failure('POST', '/v1/responses').message).toBe(`There is nothing at '/v1/responses'. ${answered}`)
    expect(failure('GET', '/nowhere').message).toBe("There is nothing at '/nowhere'")
  })

  test('knows the format of an unknown path below a path of the API', () => {
    const routes = router([
      route('POST', '/v1/chat/completions'),
      { ...route('POST', '/v1/messages'), format: formats.messages },
    ])
    expect(routes.formatOf('/v1/messages/batches/1')).toBe(formats.messages)
    expect(routes.formatOf('/v1/messages/')).toBe(formats.messages)
    for (const path of ['/v1/messagesx', '/v1/files', `/v1/files/${'a/'.repeat(9_000)}`])
      expect(routes.formatOf(path)).toBe(formats.chat)
  })

  test('shows at most 100 printable characters of a path', () => {
    expect(failure('GET', '/a\u{1F600}\n\u202e\xe9b').message).toBe("There is nothing at '/a?????b'")
    expect(failure('GET', '/models/\u202e').message).toContain("'/v1/models/?'")
    expect(failure('GET', `/${'x'.repeat(9_000)}`).message).toBe(`There is nothing at '/${'x'.repeat(99)}…'`)
  })

  test('searches a long path at once', () => {
    expect(processorMs(() => void failure('GET', '/a'.repeat(8_000)))).toBeLessThan(100)
  })

  const wrong: readonly (readonly [string, string, string])[] = [
    ['GET', '/v1/chat/completions', 'POST, OPTIONS'],
    ['HEAD', '/v1/chat/completions', 'POST, OPTIONS'],
    ['DELETE', '/v1/models', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/models/a', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/models/a:count', 'POST, GET, HEAD, OPTIONS'],
    ['POST', '/v1/models/a:counts', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/both', 'GET, HEAD, POST, OPTIONS'],
  ]
  test.each(wrong)('answers %s %s with 405 and what is allowed: %s', (method, path, allow) => {
    expect(failure(method, path)).toMatchObject({
      status: 405,
      type: 'invalid_request_error',
      code: 'method_not_allowed',
      headers: { allow },
    })
    expect(routes.methods(path).join(', ')).toBe(allow)
  })
})
