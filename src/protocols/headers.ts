import type { Endpoint, Protocol, RequestHeaders } from './protocol.ts'

/** Signs requests with headers that depend on the endpoint alone. */
export function sameHeaders(headersOf: (endpoint: Endpoint) => RequestHeaders): Protocol['sign'] {
  return (endpoint) => {
    const headers = headersOf(endpoint)
    return () => headers
  }
}

/** The configured headers with names in lower case, so that they replace the protocol's own. */
export function lowerCaseNames(headers: RequestHeaders): RequestHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
