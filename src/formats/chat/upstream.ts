import type { AnswerEvent } from '../answer.ts'
import { WireError } from '../error.ts'
import { encodeJson } from '../exact-json.ts'
import type { Part } from '../part.ts'
import { untranslatable } from '../untranslatable.ts'
import type { UpstreamFormat } from '../upstream-format.ts'
import { chatAnswerReader, readChatAnswer, type ChatReaderTarget } from './answer-reader.ts'
import { chunkReader } from './chunk.ts'
import { readCompletion } from './completion.ts'
import { fitChatRequest } from './fit.ts'
import { chat } from './format.ts'
import { parseChecked, readEvent } from './read-event.ts'
import { parseChatRequest, type ChatRequest } from './request.ts'
import { writeChatRequest } from './write-request.ts'

/**
 * Chat completions as a format of providers, for callers of other formats. Requests get the changes of a provider, and
 * answers their repairs, as those that pass through.
 */
export const chatCompletions: UpstreamFormat = chatUpstream('other')

/** Chat completions as a format of providers, with readers for this target. */
export function chatUpstream(readFor: ChatReaderTarget): UpstreamFormat {
  return {
    ...(readFor === 'other' ? { functionNames: /^[\w-]{1,64}$/ } : {}),
    write(conversation, target, changes) {
      const request = checked(encodeJson(writeChatRequest(conversation, target, changes)))
      return chat.passThrough.write(fitChatRequest(request, target.profile, changes), target.model, target)
    },

    losesReasoning: (parts, { profile }) =>
      profile.reasoning === 'drop' && parts.some(({ kind }) => kind === 'reasoning'),

    readAnswer(body) {
      const whole = readCompletion(body)
      return whole.kind === 'error' ? whole : readChatAnswer(parseChecked(whole.body), readFor, whole.usage)
    },

    answerReader() {
      const chunks = chunkReader()
      const reader = chatAnswerReader(readFor)
      const eventsOf = ({ data, usage }: Part): readonly AnswerEvent[] => reader.read(parseChecked(data), usage)
      return {
        read(event) {
          const read = readEvent(chunks, event)
          if (read === 'done' || read.kind === 'error') return read
          // The usual case needs no second look. The first chunk, which has the head, is never one.
          if (readFor === 'other' && chunks.isTextAlone()) return [{ kind: 'text', choice: 0, text: read.text }]
          return eventsOf(read)
        },
        end: () => chunks.finish().flatMap(eventsOf),
      }
    },
  }
}

function checked(body: Uint8Array): ChatRequest {
  try {
    return parseChatRequest(body)
  } catch (error) {
    // Another format may allow values that this one does not.
    throw error instanceof WireError ? untranslatable(`A request with this content (${error.message})`) : error
  }
}
