import { WireError } from '../error.ts'
import type { Refusal } from '../format.ts'

/**
 * Refusals of what `/v1/responses` has elsewhere: connections by WebSocket, and stored answers. Clients ask by POST at
 * once after a 426, and repeat after other errors.
 */
export const storedResponses: readonly Refusal[] = [
  {
    path: '/v1/responses',
    methods: ['GET'],
    error: (headers) =>
      headers.get('upgrade')?.toLowerCase() === 'websocket'
        ? new WireError(
            426,
            'invalid_request_error',
            'websocket_not_supported',
            'WebSocket is not supported: send requests as POST to /v1/responses',
          )
        : undefined,
  },
  {
    path: '/v1/responses/',
    methods: ['GET', 'DELETE', 'POST'],
    error: () =>
      new WireError(
        404,
        'invalid_request_error',
        'not_found',
        'This service stores no responses: send all items of the conversation as input with each request',
      ),
  },
]
