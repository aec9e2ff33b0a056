import type { Conversation, FileAttachment, ImageAttachment, Message, TokenLogprob, ToolCall } from './conversation.ts'

/** Rough size of a value without its texts. */
const each = 64

/** Size of a conversation in characters: texts, images, and an estimate for the rest. */
export function sizeOf({ title, settings, messages }: Conversation): number {
  return each + title.length + settings.system.length + sum(messages, sizeOfMessage)
}

function sizeOfMessage(message: Message): number {
  if (message.role === 'user')
    return each + message.text.length + sum(message.images, sizeOfImage) + sum(message.files ?? [], sizeOfFile)
  return (
    each +
    message.text.length +
    message.reasoning.length +
    (message.error?.message.length ?? 0) +
    sum(message.tools ?? [], sizeOfTool) +
    sum(message.logprobs ?? [], sizeOfLogprob)
  )
}

function sizeOfImage({ name, dataUrl }: ImageAttachment): number {
  return each + name.length + dataUrl.length
}

function sizeOfFile({ name, text }: FileAttachment): number {
  return each + name.length + text.length
}

function sizeOfTool({ id, name, arguments: given, result = '' }: ToolCall): number {
  return each + id.length + name.length + given.length + result.length
}

function sizeOfLogprob({ token, top }: TokenLogprob): number {
  return each + token.length + sum(top, (one) => each + one.token.length)
}

function sum<Value>(values: readonly Value[], sizeOfValue: (value: Value) => number): number {
  let total = 0
  for (const value of values) total += sizeOfValue(value)
  return total
}
