import type { CallbackParameters } from './identity-provider.ts'

const queryMax = 8_192
const stateForm = /^[A-Za-z0-9_-]{1,128}$/
/** RFC 6749 appendix A.11: visible characters and blanks. */
const codeForm = /^[\x20-\x7e]{1,2048}$/

/**
 * Reads the query of a callback; `undefined`: it is none that an identity provider sends. Each parameter occurs at most
 * once (RFC 6749 section 3.1), and one that is empty is as if it were left out. Parameters of other names, such as
 * `scope` and `error_description`, are not looked at.
 */
export function parseCallbackQuery(url: string): CallbackParameters | undefined {
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
