import { callController } from '../call-controller.ts'
import { UpstreamFailure } from '../failure.ts'
import type { Layer } from '../service.ts'

/** Longest time of an upstream that shows progress, in milliseconds. */
const progressMs = 300_000

/**
 * Aborts an attempt that has not replied in time. Once a stream is returned, only its own timers apply.
 *
 * @param msOf milliseconds for a request
 * @param idleMs milliseconds from each progress that the upstream shows, up to 300 s from the first one
 * @throws {UpstreamFailure} `timeout`, ambiguous: the upstream may have done the work
 */
export function deadline<Request, Reply>(msOf: (request: Request) => number, idleMs: number): Layer<Request, Reply> {
  return (inner) =>
    async function withinDeadline(request, call) {
      const controller = callController()
      const leave = () => controller.abort(call.signal.reason)
      let timer: Timer | undefined
      let total: Timer | undefined
      startTimer(msOf(request))

      function startTimer(ms: number): void {
        const expire = () => {
          const reason = `no answer within ${formatSeconds(ms)}`
          controller.abort(new UpstreamFailure('timeout', reason, { ambiguous: true }))
        }
        clearTimeout(timer)
        // Sockets are read once more: after the process was suspended, timers run before sockets.
        timer = setTimeout(() => {
          timer = setTimeout(expire, 0)
        }, ms)
      }

      function onProgress(): void {
        if (controller.signal.aborted) return
        total ??= setTimeout(() => startTimer(0), progressMs)
        startTimer(idleMs)
      }

      call.signal.addEventListener('abort', leave, { once: true })
      if (call.signal.aborted) leave()
      try {
        return await inner(request, { signal: controller.signal, trail: call.trail, onProgress })
      } catch (error) {
        throw controller.signal.aborted ? controller.signal.reason : error
      } finally {
        clearTimeout(timer)
        clearTimeout(total)
        call.signal.removeEventListener('abort', leave)
      }
    }
}

function formatSeconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`
}
