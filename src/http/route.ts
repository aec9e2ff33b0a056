import { nearestName } from '../base/nearest.ts'
import type { AccessScope } from '../formats/access.ts'
import { WireError } from '../formats/error.ts'
import type { Format } from '../formats/format.ts'
import type { ValueShape } from '../shapes/shape.ts'
import type { HandlerContext } from './handler-context.ts'

/** One route of the service. Routes are data: the service answers no path beside their list. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /**
   * An exact path, or one of many: a path that ends in `/` matches everything below it, and `{name}` in a path any
   * text, with `/` too. There is one such place at most.
   */
  readonly path: string
  /** Answered without asking the guards. */
  readonly isPublic: boolean
  /** Part of the API, in this format: errors have its shape, and pages of other websites may be allowed to ask. */
  readonly format?: Format
  /** The format of a request to a path that formats share. Undefined: `format`. */
  formatBy?(headers: Headers): Format | undefined
  /** The scope that the key of a program needs here. Absent: no key admits. */
  readonly scope?: AccessScope
  /** Keys of all scopes admit to the route. */
  readonly isForEachKey?: true
  /** Only refuses, with a reason. It is not among the methods and routes that the service names. */
  readonly isRefusal?: true
  /** The shape of its body, for the description of the API (`schema/openapi.json`). */
  readonly body?: ValueShape<unknown>
  handle(context: HandlerContext): Response | Promise<Response>
}

/** Finds the route for a method and a normalised path. */
export interface Router {
  /** @throws {WireError} 404, or 405 with Allow */
  find(method: string, path: string): Route
  /** Whether it is answered without asking the guards. Unknown paths are not public. */
  isPublic(method: string, path: string): boolean
  /** Methods that a path answers, for Allow; empty for an unknown path. */
  methods(path: string): readonly string[]
  /**
   * The format of the API at a path, also at an unknown one below `/v1` or below a path of the API; `undefined`: it is
   * no path of the API.
   *
   * @param headers of the request, for paths that formats share
   */
  formatOf(path: string, headers?: Headers): Format | undefined
}

/** Makes a router over these routes. HEAD is answered where GET is. Of routes of many paths the first one counts. */
export function router(routes: readonly Route[]): Router {
  return new RouteTable(routes)
}

class RouteTable implements Router {
  readonly #routes: readonly Route[]
  readonly #exact = new Map<string, Route[]>()
  readonly #open: { readonly route: Route; readonly matches: (path: string) => boolean }[] = []
  /** Where the API begins, such as `/v1`, and the first format there. */
  readonly #roots = new Map<string, Format>()

  constructor(routes: readonly Route[]) {
    this.#routes = routes
    for (const route of routes) {
      const matches = openPath(route.path)
      if (matches !== undefined) this.#open.push({ route, matches })
      else this.#exact.set(route.path, [...(this.#exact.get(route.path) ?? []), route])
      const root = rootOf(route.path)
      if (route.format !== undefined && !this.#roots.has(root)) this.#roots.set(root, route.format)
    }
  }

  methods(path: string): readonly string[] {
    const answered = this.#at(path).filter(({ isRefusal }) => isRefusal !== true)
    const found = new Set(answered.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
    return found.size === 0 ? [] : [...found, 'OPTIONS']
  }

  formatOf(path: string, headers: Headers | undefined): Format | undefined {
    const [route] = this.#at(path)
    const asked = headers === undefined ? undefined : route?.formatBy?.(headers)
    return asked ?? route?.format ?? this.#formatAbove(path.slice(0, comparedLength))
  }

  isPublic(method: string, path: string): boolean {
    const candidates = this.#at(path)
    const route = this.#withMethod(candidates, method)
    return route === undefined ? candidates.length > 0 && candidates.every((each) => each.isPublic) : route.isPublic
  }

  find(method: string, path: string): Route {
    const candidates = this.#at(path)
    const route = this.#withMethod(candidates, method)
    if (route !== undefined) return route
    const allow = this.methods(path).join(', ')
    if (allow === '') throw notFound(path, this.#hintFor(path))
    throw methodNotAllowed(method, allow)
  }

  #at(path: string): readonly Route[] {
    return this.#exact.get(path) ?? this.#open.filter(({ matches }) => matches(path)).map(({ route }) => route)
  }

  #withMethod(candidates: readonly Route[], method: string): Route | undefined {
    const wanted = method === 'HEAD' ? 'GET' : method
    return candidates.find((each) => each.method === wanted)
  }

  /** The format of the closest path above an unknown one, such as `/v1/messages`, else the first of its root. */
  #formatAbove(path: string): Format | undefined {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const format = this.#exact.get(path.slice(0, end))?.[0]?.format
      if (format !== undefined) return format
    }
    return this.#roots.get(rootOf(path))
  }

  /** An existing path of the API for a path without `/v1`, with a prefix, other slashes or case, or a slip. */
  #nearest(path: string): string | undefined {
    if (path.length > comparedLength) return undefined
    const segments = path.split('/').filter((segment) => segment !== '')
    const candidates = [...this.#roots.keys()].flatMap((root) =>
      segments.flatMap((segment, start) => {
        const rest = segments.slice(start + (`/${segment.toLowerCase()}` === root ? 1 : 0))
        const candidate = [root, ...rest].join('/')
        return [candidate, candidate.toLowerCase()]
      }),
    )
    return candidates.find((candidate) => this.#at(candidate).length > 0) ?? this.#misspelt(segments)
  }

  /** The path of the API that a mistyped one means, perhaps without its beginning. */
  #misspelt(segments: readonly string[]): string | undefined {
    const [first = ''] = segments
    const root = this.#roots.has(`/${first}`) ? `/${first}` : '/v1'
    const written = segments.slice(root === `/${first}` ? 1 : 0).join('/')
    const paths = this.#answered(root).map(({ path }) => path.slice(root.length + 1))
    const near = nearestName(written, paths)
    return near === undefined ? undefined : `${root}/${near}`
  }

  #answered(root: string): readonly Route[] {
    return this.#routes.filter(
      (route) => rootOf(route.path) === root && !route.path.endsWith('/') && route.isRefusal !== true,
    )
  }

  #hintFor(path: string): string {
    const near = this.#nearest(path)
    if (near !== undefined) return `. Did you mean '${near}'? The API's base URL ends in ${rootOf(near)}`
    const root = rootOf(path)
    if (!this.#roots.has(root)) return ''
    return `. This service answers ${this.#answered(root)
      .map(({ method, path: each }) => `${method} ${each}`)
      .join(', ')}`
  }
}

/** 405. @param allow the methods that the path answers */
export function methodNotAllowed(method: string, allow: string): WireError {
  const message = `${method} is not allowed here; allowed: ${allow}`
  return new WireError(405, 'invalid_request_error', 'method_not_allowed', message, { headers: { allow } })
}

/** Returns whether paths are among those of a route of many; `undefined` for an exact path. */
export function openPath(path: string): ((asked: string) => boolean) | undefined {
  const [beginning = '', end = ''] = path.split(/\{\w+\}/)
  if (beginning === path && (path.length === 1 || !path.endsWith('/'))) return undefined
  const around = beginning.length + end.length
  return (asked) => asked.length > around && asked.startsWith(beginning) && asked.endsWith(end)
}

/** The first segment of a path, such as `/v1`. */
function rootOf(path: string): string {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}

/** Longest path for which {@link Router.find} suggests another. */
const comparedLength = 200
const shownLength = 100

/** 404. @param hint continues the message after the path */
export function notFound(path: string, hint = ''): WireError {
  const shown = `${path.slice(0, shownLength)}${path.length > shownLength ? '…' : ''}`
  return new WireError(
    404,
    'invalid_request_error',
    'not_found',
    `There is nothing at '${shown}'${hint}`.replace(/[^\x20-\x7e…]/g, '?'),
  )
}
