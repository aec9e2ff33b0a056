import { ApiError, Unreachable, type ApiClient } from '../api/client.ts'
import type { AnswerError } from '../history/conversation.ts'
import { messageOf } from '../message-of.ts'
import type { ChatBody } from './chat-body.ts'
import { answerPath, askPath, requestIdOf, takeUp, unbroken } from './live-answer.ts'
import type { Measurements } from './provenance.ts'
import { readAnswer, type AnswerEnd } from './read-answer.ts'
import type { AnswerPiece } from './read-choice.ts'

export interface AskOptions {
  readonly client: Pick<ApiClient, 'fetch'>
  /** Absent: reads the answer to a request that was sent before. */
  readonly body: ChatBody | undefined
  /** Sent as `x-svc-answer`. Its first half is the request id, the key of the service's record. */
  readonly answerId: string
  readonly signal: AbortSignal
  /** Called when the answer begins. */
  readonly onResponse: (headers: Headers) => void
  readonly onPiece: (piece: AnswerPiece) => void
  /** Milliseconds since any fixed time. */
  readonly clock: () => number
  readonly wait: (ms: number) => Promise<void>
}

/** Outcome of {@link askModel}. */
export interface AskOutcome {
  readonly end:
    | AnswerEnd
    /** The service does not have the answer to the earlier request. */
    | { readonly kind: 'gone' }
  /** The service was not reached any more: the answer may be running there. */
  readonly isLost: boolean
  readonly measured: Measurements
  /** Absent if the service was not reached. */
  readonly headers?: Headers
}

/**
 * Sends one chat request and passes on the answer piece by piece, also over several connections. Never rejects:
 * failures are outcomes.
 */
export async function askModel({
  client,
  body,
  answerId,
  signal,
  onResponse,
  onPiece,
  clock,
  wait,
}: AskOptions): Promise<AskOutcome> {
  const started = clock()
  const requestId = requestIdOf(answerId)
  let measured: Measurements = { requestId }
  let headers: Headers | undefined
  let isLost = false

  function note({ text, reasoning, tools, promptTokens, completionTokens }: AnswerPiece): void {
    const isFirst =
      measured.firstTokenMs === undefined &&
      body?.stream === true &&
      (text !== '' || reasoning !== '' || tools !== undefined)
    measured = {
      ...measured,
      ...(isFirst ? { firstTokenMs: clock() - started } : {}),
      ...(promptTokens === undefined ? {} : { promptTokens }),
      ...(completionTokens === undefined ? {} : { completionTokens }),
    }
  }

  const readFrom = (position: number): Promise<Response> => client.fetch(answerPath(answerId, position), { signal })

  async function send(): Promise<Response> {
    if (body === undefined) return await readFrom(0)
    try {
      return await client.fetch(askPath, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': requestId, 'x-svc-answer': answerId },
        body: JSON.stringify(body),
        signal,
      })
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      // The connection may have been lost after the request had arrived.
      return await readFrom(0).catch(() => {
        throw error
      })
    }
  }

  function takeUpFrom(position: number): Promise<Response> {
    signal.throwIfAborted()
    return takeUp(() => readFrom(position), wait).catch((error: unknown) => {
      isLost = error instanceof Unreachable
      throw error
    })
  }

  async function exchange(): Promise<AskOutcome['end']> {
    const response = await send()
    headers = response.headers
    onResponse(headers)
    const pieces = readAnswer(unbroken(response, takeUpFrom), signal)
    for (;;) {
      const step = await pieces.next()
      if (step.done === true) return step.value
      note(step.value)
      onPiece(step.value)
    }
  }

  const end = await exchange().catch((error: unknown): AskOutcome['end'] => {
    if (signal.aborted) return { kind: 'stopped' }
    if (body === undefined) {
      isLost = error instanceof Unreachable || (error instanceof ApiError && error.status === 401)
      if (isLost) return { kind: 'interrupted' }
      if (error instanceof ApiError && error.code === 'answer_not_found') return { kind: 'gone' }
    }
    if (error instanceof ApiError) ({ headers } = error)
    return { kind: 'failed', error: answerError(error) }
  })
  return {
    end,
    isLost,
    // Of an earlier request, the service has the time.
    measured: body === undefined ? measured : { ...measured, totalMs: clock() - started },
    ...(headers === undefined ? {} : { headers }),
  }
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
  return { kind: 'wire', code: 'page_error', message: messageOf(error) }
}
