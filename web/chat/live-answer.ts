import { Unreachable, type ApiClient } from '../api/client.ts'

/** Path of requests whose answers go on without their reader, and can be taken up again (docs/using.md). */
export const askPath = '/api/chat'

/** Path of an answer in the service. @param from number of its bytes that are there already */
export function answerPath(id: string, from = 0): string {
  return `/api/answers/${id}${from === 0 ? '' : `?from=${from}`}`
}

/** The request id of an answer. It is shown, so that the rest of the answer's id remains a secret. */
export function requestIdOf(answerId: string): string {
  return answerId.slice(0, 16)
}

/** Stops an answer in the service, which goes on when its reader only leaves. */
export function stopAnswer(client: Pick<ApiClient, 'fetch'>, id: string): void {
  // If it is not reached, the answer ends by itself a minute later.
  void client.fetch(answerPath(id), { method: 'DELETE', keepalive: true }).catch(() => undefined)
}

/** Waits before each attempt to take up an answer. */
const waitsMs = [0, 500, 1_500]

/**
 * Takes up an answer after its connection broke.
 *
 * @throws {Unreachable} after some attempts, and at once every other error of `request`
 */
export async function takeUp(request: () => Promise<Response>, wait: (ms: number) => Promise<void>): Promise<Response> {
  let failure: Unreachable | undefined
  for (const ms of waitsMs) {
    if (ms > 0) await wait(ms)
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      failure = error
    }
  }
  throw failure
}

/** Returns a response with the same body, which is taken up where its connection breaks. */
export function unbroken(response: Response, takeUpFrom: (position: number) => Promise<Response>): Response {
  let reader = response.body?.getReader()
  let position = 0

  async function read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const step = await reader?.read().catch(() => 'broken' as const)
      if (step !== 'broken') {
        position += step?.value?.length ?? 0
        return step?.value
      }
      reader = (await takeUpFrom(position)).body?.getReader()
    }
  }

  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const bytes = await read()
      if (bytes === undefined) controller.close()
      else controller.enqueue(bytes)
    },
    cancel: (reason) => reader?.cancel(reason),
  })
  return new Response(body, { headers: response.headers })
}
