import { WireError } from '../../formats/error.ts'
import { responses } from '../../formats/responses/format.ts'
import { methodNotAllowed, type Route } from '../route.ts'

/**
 * Refusals of what `/v1/responses` has elsewhere: connections by WebSocket, and stored answers. Clients ask by POST at
 * once after a 426, and repeat after other errors.
 */
export const storedResponses: readonly Route[] = [
  {
    method: 'GET',
    path: responses.path,
    isPublic: false,
    isRefusal: true,
    format: responses,
    handle({ request: { method, headers } }) {
      if (headers.get('upgrade')?.toLowerCase() !== 'websocket') throw methodNotAllowed(method, 'POST, OPTIONS')
      throw new WireError(
        426,
        'invalid_request_error',
        'websocket_not_supported',
        `WebSocket is not supported: send requests as POST to ${responses.path}`,
      )
    },
  },
  ...(['GET', 'DELETE', 'POST'] as const).map((method): Route => ({
    method,
    path: `${responses.path}/`,
    isPublic: false,
    isRefusal: true,
    format: responses,
    handle() {
      throw new WireError(
        404,
        'invalid_request_error',
        'not_found',
        'This service stores no responses: send all items of the conversation as input with each request',
      )
    },
  })),
]
