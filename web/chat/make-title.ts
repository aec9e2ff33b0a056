import type { ApiClient } from '../api/client.ts'
import type { Conversation } from '../history/conversation.ts'
import { oneLine } from '../history/one-line.ts'
import { plainFormulas } from '../history/plain-formulas.ts'
import { shortened, withoutMarkdown } from '../history/title.ts'
import { branchOf } from '../history/tree.ts'
import { say } from '../texts/say.ts'
import { chatPath } from './chat-body.ts'
import { readChoice } from './read-choice.ts'
import { thinkingSplitter } from './split-thinking.ts'

/** Characters of the question and of the answer that the model gets. */
const partMax = 2_000

/** Enough for a short title, and for a little reasoning before it. */
const tokensMax = 200
const titleMax = 80,
  wordsMax = 12
const waitMs = 30_000

/**
 * Asks a model for the title of a conversation, once: after its first answer, unless a person chose a title. Never for
 * the echo, whose titles would repeat the request.
 *
 * @returns `undefined` without a good title. Never rejects
 */
export async function makeTitle(
  client: Pick<ApiClient, 'fetch'>,
  model: string,
  conversation: Conversation,
): Promise<string | undefined> {
  const request = requestOf(model, conversation)
  if (request === undefined) return undefined
  try {
    const response = await client.fetch(chatPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(waitMs),
    })
    const read = readChoice(await response.text())
    return read.kind === 'piece' ? titleIn(read.piece.text) : undefined
  } catch {
    // Any failure: the first line stays, and the person is not disturbed.
    return undefined
  }
}

function requestOf(model: string, conversation: Conversation): unknown {
  const answers = conversation.messages.filter((message) => message.role === 'assistant')
  const [answer] = answers
  const question = branchOf(conversation).find((message) => message.role === 'user')
  if (conversation.isTitled || question === undefined || answer === undefined || answers.length > 1) return undefined
  if (answer.status !== 'complete' || answer.text.trim() === '') return undefined
  if ([model, answer.provenance?.model, answer.provenance?.provider].some(isEcho)) return undefined
  return {
    model,
    stream: false,
    max_tokens: tokensMax,
    messages: [
      {
        role: 'user',
        content: say.titles.prompt(question.text.slice(0, partMax), answer.text.slice(0, partMax)),
      },
    ],
  }
}

function isEcho(name: string | undefined): boolean {
  return name !== undefined && /^(?:.*\/)?echo$/.test(name)
}

/** Cleans a model's answer. Returns `undefined` if it is no title: nothing visible, or too many words. */
export function titleIn(answer: string): string | undefined {
  const splitter = thinkingSplitter()
  const text = splitter.push(answer.slice(0, 8_000)).text + splitter.end().text
  const [line = ''] = withoutMarkdown(plainFormulas(text))
    .split(/[\n\r\u0085\u2028\u2029]+/)
    .map((each) => oneLine(each).trim())
    .filter((each) => each !== '')
  const title = line
    .replace(/^(?:title|titel)\s*:\s*/iu, '')
    .replace(/^[\s"'`“”„‟‘’‚«»‹›「」『』*_#]+|[\s"'`“”„‟‘’‚«»‹›「」『』*_.。]+$/gu, '')
  if (!/[\p{L}\p{N}]/u.test(title) || title.split(' ').length > wordsMax) return undefined
  return shortened(title, titleMax)
}
