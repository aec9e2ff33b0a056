import type { Socket } from 'bun'
import { answerReader, type AnswerListener } from '../../bench/answer-reader.ts'

/** Listener of one request: the parts of its answer, or its failure. */
export interface LoadExchange extends AnswerListener {
  /** The connection ended inside the answer or before it. No further call follows. */
  onCut(reason: string): void
}

/** A connection that carries one exchange at a time. */
export interface LoadConnection {
  ask(request: string, exchange: LoadExchange): void
  /** Closes the connection, with RST or with FIN. The exchange gets no further call. */
  leave(how: 'reset' | 'close'): void
}

/**
 * Opens a connection to 127.0.0.1.
 *
 * @param onIdle the answer is complete, and the connection can carry another exchange
 * @param onGone the connection was closed
 * @throws when the connection is refused
 */
export async function openConnection(
  port: number,
  onIdle: (connection: LoadConnection) => void,
  onGone: (connection: LoadConnection) => void,
): Promise<LoadConnection> {
  let exchange: LoadExchange | undefined
  let isLast = false

  /** Detaches the exchange, so that it gets no further call. */
  function detach(): LoadExchange | undefined {
    const current = exchange
    exchange = undefined
    return current
  }

  const reader = answerReader({
    onHead(status, head) {
      isLast = /\r\nconnection: close/i.test(head)
      exchange?.onHead(status, head)
    },
    onEvent: (event) => exchange?.onEvent(event),
    onEnd() {
      detach()?.onEnd()
      if (isLast) leave('close')
      else onIdle(connection)
    },
  })

  function leave(how: 'reset' | 'close'): void {
    detach()
    if (how === 'reset') socket.terminate()
    else socket.end()
  }

  function closed(reason: string): void {
    onGone(connection)
    detach()?.onCut(reason)
  }

  const connection: LoadConnection = {
    leave,
    ask(request, asked) {
      exchange = asked
      if (socket.write(request) < request.length) {
        closed('the socket did not take the request')
        socket.terminate()
      }
    },
  }

  const socket: Socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (opened) => void opened.setNoDelay(true),
      data(opened, bytes) {
        try {
          reader.take(bytes)
        } catch (error) {
          detach()?.onCut(String(error))
          opened.terminate()
        }
      },
      close: () => closed('closed'),
      error: (_, error) => closed(error.message),
    },
  })
  return connection
}

/** The bytes of a chat request. */
export function chatRequest(port: number, body: string): string {
  return chatHead(port, body.length) + body
}

/** The head of a chat request, with its blank line. */
export function chatHead(port: number, bodyBytes: number): string {
  const lines = [
    'POST /v1/chat/completions HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `content-length: ${bodyBytes}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}
