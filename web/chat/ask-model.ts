import { ApiError, Unreachable, type ApiClient } from '../api/client.ts'
import type { AnswerError } from '../history/conversation.ts'
import { chatPath, type ChatBody } from './chat-body.ts'
import type { Measurements } from './provenance.ts'
import { readAnswer, type AnswerEnd } from './read-answer.ts'
import type { AnswerPiece } from './read-choice.ts'

/** Options of {@link askModel}. */
export interface AskOptions {
  readonly client: Pick<ApiClient, 'fetch'>
  readonly body: ChatBody
  /** Sent as `x-request-id`; the key of the service's record. */
  readonly requestId: string
  readonly signal: AbortSignal
  readonly onPiece: (piece: AnswerPiece) => void
  /** Milliseconds since any fixed time. */
  readonly clock: () => number
}

/** Outcome of {@link askModel}. */
export interface AskOutcome {
  readonly end: AnswerEnd | { readonly kind: 'stopped' }
  readonly measured: Measurements
  /** Absent if the service was not reached. */
  readonly headers?: Headers
}

/** Sends one chat request and passes on the answer piece by piece. Never rejects: failures are outcomes. */
export async function askModel({ client, body, requestId, signal, onPiece, clock }: AskOptions): Promise<AskOutcome> {
  const started = clock()
  let measured: Measurements = { requestId }
  let headers: Headers | undefined

  function note({ text, reasoning, promptTokens, completionTokens }: AnswerPiece): void {
    const isFirst = measured.firstTokenMs === undefined && body.stream && (text !== '' || reasoning !== '')
    measured = {
      ...measured,
      ...(isFirst ? { firstTokenMs: clock() - started } : {}),
      ...(promptTokens === undefined ? {} : { promptTokens }),
      ...(completionTokens === undefined ? {} : { completionTokens }),
    }
  }

  async function exchange(): Promise<AskOutcome['end']> {
    const response = await client.fetch(chatPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': requestId },
      body: JSON.stringify(body),
      signal,
    })
    headers = response.headers
    const pieces = readAnswer(response, signal)
    for (;;) {
      const step = await pieces.next()
      if (step.done === true) return step.value
      note(step.value)
      onPiece(step.value)
    }
  }

  const end = await exchange().catch((error: unknown): AskOutcome['end'] => {
    if (signal.aborted) return { kind: 'stopped' }
    if (error instanceof ApiError) ({ headers } = error)
    return { kind: 'failed', error: answerError(error) }
  })
  return { end, measured: { ...measured, totalMs: clock() - started }, ...(headers === undefined ? {} : { headers }) }
}

function answerError(error: unknown): AnswerError {
  if (error instanceof ApiError) {
    const { status, type, code, param, message, retryAfter } = error
    return {
      kind: 'wire',
      status,
      type,
      code,
      message,
      ...(param === undefined ? {} : { param }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    }
  }
  if (error instanceof Unreachable) return { kind: 'network', message: error.message }
  // An internal error of the page. Shown in place of the answer.
  return { kind: 'wire', code: 'page_error', message: error instanceof Error ? error.message : String(error) }
}
