import { describe, expect, test } from 'bun:test'
import { WireError } from '../wire/error.ts'
import { router, type Route } from './route.ts'

function route(method: Route['method'], path: string): Route {
  return { method, path, isPublic: false, handle: () => new Response(`${method} ${path}`) }
}

const routes = router([
  route('POST', '/v1/chat/completions'),
  route('GET', '/v1/models'),
  route('GET', '/v1/models/'),
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
  const found: readonly (readonly [string, string, string])[] = [
    ['POST', '/v1/chat/completions', 'POST /v1/chat/completions'],
    ['GET', '/v1/models', 'GET /v1/models'],
    ['GET', '/v1/models/gpt-4o', 'GET /v1/models/'],
    ['GET', '/v1/models/openai/gpt-4o', 'GET /v1/models/'],
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

  test("says where the API's base is when it was left out", () => {
    expect(failure('POST', '/chat/completions').message).toContain('/v1/chat/completions')
    expect(failure('GET', '/nowhere').message).not.toContain('/v1')
  })

  const wrong: readonly (readonly [string, string, string])[] = [
    ['GET', '/v1/chat/completions', 'POST, OPTIONS'],
    ['HEAD', '/v1/chat/completions', 'POST, OPTIONS'],
    ['DELETE', '/v1/models', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/models/a', 'GET, HEAD, OPTIONS'],
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
