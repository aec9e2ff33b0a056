import type { ChatSettings, Message } from '../history/conversation.ts'
import { chatBody, chatPath } from './chat-body.ts'

export interface CurlOptions {
  /** Origin of the service, such as `http://127.0.0.1:8000`. */
  readonly origin: string
  readonly settings: ChatSettings & { readonly model: string }
  /** Messages up to the question. */
  readonly messages: readonly Message[]
  /** Whether sign-in is required. */
  readonly isClosed: boolean
}

/**
 * Returns a curl command for the same request. The body is a here-document, so nothing in it needs quoting and images
 * fit.
 */
export function curlOf({ origin, settings, messages, isClosed }: CurlOptions): string {
  const body = JSON.stringify(chatBody(settings, messages), undefined, 2)
  const flags = settings.parameters.stream === false ? '' : ' -N'
  const token = isClosed ? ' \\\n  -H "authorization: Bearer $SVC_TOKEN"' : ''
  return [
    `curl${flags} ${origin}${chatPath} \\`,
    `  -H 'content-type: application/json'${token} \\`,
    `  --data-binary @- <<'JSON'\n${body}\nJSON\n`,
  ].join('\n')
}
