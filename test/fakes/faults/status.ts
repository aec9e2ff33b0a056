import type { FailureClass } from '../../../src/service/failure.ts'
import type { Script } from '../fault-upstream.ts'
import { errorReply, head, reply } from '../replies.ts'
import type { Fault } from './fault.ts'

/** A status with an error body without further information. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): Script {
  return (exchange) =>
    exchange.write(errorReply(code, { message: `scripted ${code}`, type: 'scripted', code: null }, headers))
}

function plainStatus(row: number, code: number, failure: FailureClass): Fault {
  return { name: `status-${code}`, row, words: String(code), on: 'both', failure, status: code, script: status(code) }
}

function statusSaying(row: number, code: number, name: string, error: object | string, failure: FailureClass): Fault {
  return {
    name,
    row,
    words: `${code} that says ${name.replaceAll('-', ' ')}`,
    on: 'both',
    failure,
    status: code,
    script: (exchange) => exchange.write(errorReply(code, error)),
  }
}

function redirect(code: number, location: string): Fault {
  return {
    name: `status-${code}`,
    row: 9,
    words: `${code}, which is not followed`,
    on: 'both',
    failure: 'redirect',
    status: code,
    script: (exchange) => exchange.write(reply(code, '', { location })),
  }
}

/** Rows 9 to 21: statuses. */
export const statusFaults: readonly Fault[] = [
  ...[301, 302, 303, 307, 308].map((code) => redirect(code, '/v1/chat/completions')),
  { ...redirect(300, '/v1/chat/completions'), words: '300' },
  {
    name: 'status-304',
    row: 9,
    words: '304',
    on: 'both',
    failure: 'redirect',
    status: 304,
    script: (exchange) => exchange.write(head(304)),
  },
  ...[400, 405, 406, 415, 422].map((code) => plainStatus(10, code, 'bad_request')),
  statusSaying(
    11,
    400,
    'invalid-key-in-words',
    { message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT', code: 400 },
    'credential',
  ),
  statusSaying(
    11,
    400,
    'invalid-key-by-code',
    { message: 'no', type: 'invalid_request_error', code: 'invalid_api_key' },
    'credential',
  ),
  statusSaying(
    11,
    400,
    'no-credit',
    { message: 'Your credit balance is too low to access the API.', type: 'invalid_request_error' },
    'quota',
  ),
  statusSaying(
    11,
    400,
    'model-decommissioned',
    { message: 'The model has been decommissioned.', type: 'invalid_request_error', code: 'model_decommissioned' },
    'model_gone',
  ),
  statusSaying(
    12,
    400,
    'context-length',
    { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
    'context_length',
  ),
  plainStatus(12, 413, 'context_length'),
  plainStatus(14, 401, 'credential'),
  plainStatus(14, 403, 'credential'),
  plainStatus(15, 402, 'quota'),
  statusSaying(
    15,
    429,
    'insufficient-quota',
    { message: 'You exceeded your current quota.', type: 'insufficient_quota', code: 'insufficient_quota' },
    'quota',
  ),
  statusSaying(
    16,
    404,
    'model-not-found',
    { message: 'The model does not exist', type: 'invalid_request_error', code: 'model_not_found' },
    'model_gone',
  ),
  plainStatus(16, 410, 'model_gone'),
  plainStatus(17, 408, 'request_timeout'),
  plainStatus(17, 409, 'conflict'),
  plainStatus(17, 425, 'conflict'),
  plainStatus(18, 429, 'rate_limit'),
  ...[500, 502, 504, 505, 507, 520, 522, 524, 599].map((code) => plainStatus(19, code, 'server_error')),
  {
    name: 'bad-gateway-page',
    row: 19,
    words: '502 with an HTML page',
    on: 'both',
    failure: 'server_error',
    status: 502,
    script: (exchange) =>
      exchange.write(reply(502, '<html><h1>Bad Gateway</h1></html>', { 'content-type': 'text/html' })),
  },
  {
    name: 'error-without-body',
    row: 19,
    words: '500 without a body',
    on: 'both',
    failure: 'server_error',
    status: 500,
    script: (exchange) => exchange.write(reply(500, '')),
  },
  {
    name: 'error-with-endless-body',
    row: 19,
    words: '500 with a body that never ends',
    on: 'both',
    failure: 'server_error',
    status: 500,
    entry: { timeouts: { first_token_ms: 5_000, attempt_ms: 5_000 } },
    async script(exchange) {
      await exchange.write(head(500, { 'content-type': 'text/plain', 'content-length': '5000' }))
      await exchange.hang()
    },
  },
  ...[503, 529].map((code) => plainStatus(20, code, 'overloaded')),
  ...[201, 418, 451, 600, 999].map((code) => plainStatus(21, code, 'unknown_status')),
]
