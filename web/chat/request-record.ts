import type { RequestEntry } from '../../src/http/page-api.ts'
import { ApiError, type ApiClient } from '../api/client.ts'

/** The service notices a little later that somebody has left: then it is asked again after so long. */
const waitsMs = [0, 300, 1_500]

/** What the service remembers of a request. Absent: nothing, or it is not to be had. Never rejects. */
export async function requestRecord(client: Pick<ApiClient, 'get'>, id: string, wait: (ms: number) => Promise<void> = waitFor): Promise<RequestEntry | undefined> {
  for (const ms of waitsMs) {
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

function waitFor(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
