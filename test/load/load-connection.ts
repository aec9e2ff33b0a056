import type { Socket } from 'bun'
import { answerReader, type AnswerListener } from '../../bench/answer-reader.ts'

/** One request under way: what its answer tells, and how it went wrong. */
export interface LoadExchange extends AnswerListener {
  /** The connection ended inside the answer or before it. Nothing else is told after it. */
  onCut(reason: string): void
}

/** A connection that carries one exchange at a time. */
export interface LoadConnection {
  ask(request: string, exchange: LoadExchange): void
  /** Leaves, with RST or with FIN. Nothing is told of the exchange any more. */
  leave(how: 'reset' | 'close'): void
}

/**
 * Opens a connection to 127.0.0.1.
 *
 * @param onIdle the answer is through, and the connection can carry another
 * @param onGone it cannot carry another: closed, or to be closed by what the answer said
 * @throws when nobody listens
 */
export async function openConnection(
  port: number,
  onIdle: (connection: LoadConnection) => void,
  onGone: (connection: LoadConnection) => void,
): Promise<LoadConnection> {
  let exchange: LoadExchange | undefined
  let isLast = false

  /** Takes the exchange away, so that it hears of nothing else. */
  function taken(): LoadExchange | undefined {
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
      taken()?.onEnd()
      if (isLast) leave('close')
      else onIdle(connection)
    },
  })

  function leave(how: 'reset' | 'close'): void {
    taken()
    if (how === 'reset') socket.terminate()
    else socket.end()
  }

  function closed(reason: string): void {
    onGone(connection)
    taken()?.onCut(reason)
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
          taken()?.onCut(String(error))
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
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}
