import { encodeHeaderText } from '../../bytes/header-text.ts'
import type { ServedReply } from '../../gateway/gateway.ts'
import { formatTrail } from '../../service/trail.ts'
import { limitHeaders } from './limit-answers.ts'
import type { Progress } from './progress.ts'

/** Headers of an answer (docs/api.md). @param served absent: no provider has answered yet */
export function replyHeaders(
  progress: Progress,
  contentType: string,
  served: ServedReply | undefined,
): Record<string, string> {
  const { context, trail } = progress
  if (served === undefined)
    return { 'content-type': contentType, 'x-request-id': context.id, ...attemptHeaders(progress) }
  // One literal: an object that grows member by member costs a multiple of it.
  const headers = {
    'content-type': contentType,
    'x-request-id': context.id,
    'x-svc-provider': served.provider,
    'x-svc-model': encodeHeaderText(served.model),
    'x-svc-attempts': String(trail.length),
    'x-svc-trail': formatTrail(trail),
    'server-timing': ownTime(progress),
  }
  const { dropped = [] } = served
  const { admission } = progress
  if (dropped.length === 0 && admission === undefined) return headers
  return {
    ...headers,
    ...(dropped.length === 0 ? {} : { 'x-svc-dropped': dropped.join(', ') }),
    ...(admission === undefined ? {} : limitHeaders(admission, progress.format.name)),
  }
}

/** Headers of an answer with bytes of a provider's type, which browsers must not take for another. */
export function mediaHeaders(progress: Progress, contentType: string, served: ServedReply): Record<string, string> {
  return { ...replyHeaders(progress, contentType, served), 'x-content-type-options': 'nosniff' }
}

/** Headers of a stream of events. */
export function streamHeaders(progress: Progress, served: ServedReply | undefined): Record<string, string> {
  return { ...replyHeaders(progress, 'text/event-stream; charset=utf-8', served), ...unbuffered }
}

/** Tells proxies to pass a stream on as it arrives. */
export const unbuffered: Readonly<Record<string, string>> = {
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** Headers about the attempts, of answers and errors. */
export function attemptHeaders(progress: Progress): Record<string, string> {
  const { trail, admission, format } = progress
  return {
    'x-svc-attempts': String(trail.length),
    'server-timing': ownTime(progress),
    ...(trail.length === 0 ? {} : { 'x-svc-trail': formatTrail(trail) }),
    ...(admission === undefined ? {} : limitHeaders(admission, format.name)),
  }
}

/** `gw;dur=0.4`: milliseconds in this service, without those of the upstreams. */
function ownTime({ context, trail }: Progress): string {
  let upstreamMs = 0
  for (const { ms } of trail) upstreamMs += ms
  return `gw;dur=${Math.max(0, performance.now() - context.started - upstreamMs).toFixed(2)}`
}
