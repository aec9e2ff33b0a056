import { WireError } from '../wire/error.ts'
import type { Exchange } from './exchange.ts'

/** One thing the service answers. Routes are data: what can be reached is the list of them. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** An exact path; one that ends in `/` stands for everything below it. */
  readonly path: string
  /** Reached without passing the guards. */
  readonly isPublic: boolean
  handle(exchange: Exchange): Response | Promise<Response>
}

/** Finds the route for a method and a normalised path. */
export interface Router {
  /** @throws {WireError} 404, or 405 with Allow */
  find(method: string, path: string): Route
  /** Whether it is found without passing the guards. What does not exist is not public. */
  isPublic(method: string, path: string): boolean
  /** The methods a path answers, for Allow; empty: no such path. */
  methods(path: string): readonly string[]
}

/** A router over these routes. HEAD is answered where GET is. */
export function router(routes: readonly Route[]): Router {
  const exact = new Map<string, Route[]>()
  const below: Route[] = []
  for (const route of routes) {
    if (route.path.length > 1 && route.path.endsWith('/')) below.push(route)
    else exact.set(route.path, [...(exact.get(route.path) ?? []), route])
  }

  function at(path: string): readonly Route[] {
    return exact.get(path) ?? below.filter((route) => path.startsWith(route.path) && path.length > route.path.length)
  }

  function methods(path: string): readonly string[] {
    const found = new Set(at(path).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
    return found.size === 0 ? [] : [...found, 'OPTIONS']
  }

  function withMethod(candidates: readonly Route[], method: string): Route | undefined {
    const wanted = method === 'HEAD' ? 'GET' : method
    return candidates.find((each) => each.method === wanted)
  }

  return {
    methods,
    isPublic(method, path) {
      const candidates = at(path)
      const route = withMethod(candidates, method)
      return route === undefined ? candidates.length > 0 && candidates.every((each) => each.isPublic) : route.isPublic
    },
    find(method, path) {
      const candidates = at(path)
      const route = withMethod(candidates, method)
      if (route !== undefined) return route
      if (candidates.length === 0) throw notFound(path, exact.has(`/v1${path}`))
      const allow = methods(path).join(', ')
      throw new WireError(
        405,
        'invalid_request_error',
        'method_not_allowed',
        `${method} is not allowed here; allowed: ${allow}`,
        { headers: { allow } },
      )
    },
  }
}

function notFound(path: string, isUnderV1: boolean): WireError {
  const hint = isUnderV1 ? `: the API's base is /v1, so this is at /v1${path}` : ''
  return new WireError(404, 'invalid_request_error', 'not_found', `There is nothing at this path${hint}`)
}
