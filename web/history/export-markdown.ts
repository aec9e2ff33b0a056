import { codeBlock, fileBlock } from '../files/file-blocks.ts'
import { openEnd } from '../markdown/open-end.ts'
import { say } from '../texts/say.ts'
import { localDay } from '../ui/local-time.ts'
import type { AssistantMessage, Conversation, Message, ToolCall } from './conversation.ts'
import { oneLine } from './one-line.ts'
import { branchOf } from './tree.ts'

/**
 * Exports the shown branch of a conversation as Markdown, with images, but without parameters, log probabilities and
 * trail.
 */
export function exportMarkdown({ title, created, settings, ...tree }: Conversation): string {
  const parts = [
    `# ${plain(title)}`,
    `*${settings.model === undefined ? '' : `${plain(settings.model)} · `}${localDay(created)}*`,
  ]
  if (settings.system.trim() !== '') parts.push('## System', closed(settings.system))
  return `${[...parts, ...branchOf(tree).flatMap(partsOf)].join('\n\n')}\n`
}

function partsOf(message: Message): readonly string[] {
  if (message.role === 'user') {
    const pictures = message.images.map(({ name, dataUrl }) => `![${plain(name)}](${dataUrl})`)
    return ['## You', ...pictures, ...(message.files ?? []).map(fileBlock), ...filled(message.text)]
  }
  const { provider, model } = message.provenance ?? {}
  const served = [model, provider]
    .filter((each) => each !== undefined)
    .map(plain)
    .join(' · ')
  const reasoning =
    message.reasoning.trim() === ''
      ? []
      : ['<details><summary>Reasoning</summary>', closed(message.reasoning), '</details>']
  return [
    `## Assistant${served === '' ? '' : ` (${served})`}`,
    ...reasoning,
    ...(message.tools ?? []).flatMap(toolParts),
    ...filled(message.text),
    ...endOf(message),
  ]
}

function toolParts({ name, arguments: given, result }: ToolCall): readonly string[] {
  const title = oneLine(name).trim().replace(/&/g, '&amp;').replace(/</g, '&lt;')
  return [
    `<details><summary>Tool: ${title}</summary>`,
    codeBlock(given, 'json'),
    ...(result === undefined ? [] : ['Result:', codeBlock(result, '')]),
    '</details>',
  ]
}

function endOf({ status, error }: AssistantMessage): readonly string[] {
  if (status === 'complete') return []
  const end = {
    streaming: say.common.interrupted,
    interrupted: say.common.interrupted,
    stopped: say.common.stopped,
    failed: say.common.failed,
  }[status]
  return [`*${end}${error === undefined ? '' : `: ${plain(error.message)}`}*`]
}

function filled(text: string): readonly string[] {
  return text.trim() === '' ? [] : [closed(text)]
}

/** Ends an open block of code or raw HTML, so that it does not include the following text. */
function closed(text: string): string {
  const end = openEnd(text)
  return end === undefined ? text.trimEnd() : `${text.replace(/\n$/, '')}\n${end}`
}

/** Returns one line without Markdown syntax. */
function plain(text: string): string {
  return oneLine(text)
    .trim()
    .replace(/[\\`*_{}[\]<>#|~!&]/g, '\\$&')
}
