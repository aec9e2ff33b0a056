import type { RequestEntry } from '../../src/http/page-api.ts'
import { ApiError, type ApiClient } from '../api/client.ts'

/** Waits before each time it is asked. The service notices a little later that somebody has left. */
const waitsMs = { afterEnd: [0, 300, 1_500], afterStop: [300, 1_500] } as const

/** What the service remembers of a request. Absent: nothing, or it is not to be had. Never rejects. */
export async function requestRecord(
  client: Pick<ApiClient, 'get'>,
  id: string,
  moment: keyof typeof waitsMs,
  wait: (ms: number) => Promise<void>,
): Promise<RequestEntry | undefined> {
  for (const ms of waitsMs[moment]) {
    if (ms > 0) await wait(ms)
    try {
      return await client.get<RequestEntry>(`/api/requests/${id}`)
    } catch (error) {
      // Whatever else there is: what was measured here has to do.
      if (!(error instanceof ApiError) || error.status !== 404) return undefined
    }
  }
  return undefined
}
