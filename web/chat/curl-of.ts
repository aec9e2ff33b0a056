import type { ChatSettings, Message } from '../history/conversation.ts'
import { chatBody, chatPath } from './ask.ts'

/** What {@link curlOf} needs. */
export interface CurlOptions {
  /** Of the service, as in `http://127.0.0.1:8000`. */
  readonly origin: string
  readonly settings: ChatSettings & { readonly model: string }
  /** What is asked, up to the question. */
  readonly messages: readonly Message[]
  /** Whether somebody has to be signed in. */
  readonly isClosed: boolean
}

/**
 * A command that asks the same on a terminal. The body comes as it is between two lines, so that nothing in it has to
 * be quoted, and pictures fit.
 */
export function curlOf({ origin, settings, messages, isClosed }: CurlOptions): string {
  const body = JSON.stringify(chatBody(settings, messages), undefined, 2)
  const flags = settings.parameters.stream === false ? '' : ' -N'
  const token = isClosed ? ' \\\n  -H "authorization: Bearer $SVC_TOKEN"' : ''
  return `curl${flags} ${origin}${chatPath} \\\n  -H 'content-type: application/json'${token} \\\n  --data-binary @- <<'JSON'\n${body}\nJSON\n`
}
