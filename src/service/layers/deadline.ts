import { callController, type CallSignal } from '../call-controller.ts'
import { UpstreamFailure } from '../failure.ts'
import type { Call, Layer } from '../service.ts'

/**
 * Aborts an attempt that has not replied in time. Once a stream is returned, only its own timers apply.
 *
 * @param msOf milliseconds for a request
 * @throws {UpstreamFailure} `timeout`, ambiguous: the upstream may have done the work
 */
export function deadline<Request, Reply>(msOf: (request: Request) => number): Layer<Request, Reply> {
  return (inner) =>
    async function withinDeadline(request, call) {
      const ms = msOf(request)
      const controller = callController()
      const expire = () =>
        controller.abort(new UpstreamFailure('timeout', `no answer within ${formatSeconds(ms)}`, { ambiguous: true }))
      const leave = () => controller.abort(call.signal.reason)
      // Sockets are read once more: after the process was suspended, timers run before sockets.
      let timer = setTimeout(() => {
        timer = setTimeout(expire, 0)
      }, ms)
      call.signal.addEventListener('abort', leave, { once: true })
      if (call.signal.aborted) leave()
      try {
        return await inner(request, withSignal(call, controller.signal))
      } catch (error) {
        throw controller.signal.aborted ? controller.signal.reason : error
      } finally {
        clearTimeout(timer)
        call.signal.removeEventListener('abort', leave)
      }
    }
}

function withSignal(call: Call, signal: CallSignal): Call {
  return { signal, trail: call.trail }
}

function formatSeconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000} s` : `${ms} ms`
}
