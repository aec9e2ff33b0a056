import type { CallbackParameters } from './identity-provider.ts'

const queryMax = 8_192
const stateForm = /^[A-Za-z0-9_-]{1,128}$/
/** RFC 6749 appendix A.11: visible characters and spaces. */
const codeForm = /^[\x20-\x7e]{1,2048}$/

/**
 * Parses the query of a callback; `undefined` if it is malformed. A known parameter may occur only once (RFC 6749
 * section 3.1); an empty one counts as absent. Other parameters, such as `scope` and `error_description`, are ignored.
 * A request target has no fragment (RFC 9112 section 3.2), so a URL with `#` is malformed.
 */
export function parseCallbackQuery(url: string): CallbackParameters | undefined {
  if (url.includes('#')) return undefined
  const start = url.indexOf('?')
  const query = start === -1 ? '' : url.slice(start + 1)
  if (query.length > queryMax) return undefined
  const parameters = new URLSearchParams(query)
  if (['state', 'code', 'iss', 'error'].some((name) => parameters.getAll(name).length > 1)) return undefined
  const given = (name: string): string | undefined => parameters.get(name) || undefined
  const [state, code, iss, error] = [given('state'), given('code'), given('iss'), given('error')]
  if (state === undefined || !stateForm.test(state) || (code !== undefined && !codeForm.test(code))) return undefined
  return {
    state,
    ...(code === undefined ? {} : { code }),
    ...(iss === undefined ? {} : { iss }),
    ...(error === undefined ? {} : { error }),
  }
}
