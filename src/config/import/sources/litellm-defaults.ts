import type { JsonObject } from '../../../base/json-value.ts'
import type { FindingNotes } from '../findings.ts'
import type { SourceNode } from '../source-tree.ts'
import { mayBeSecret } from './read-values.ts'

/** Request fields that LiteLLM sends where callers send none, as Anthropic's and Google's own requests have them. */
const otherNames = {
  anthropic: {
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    max_tokens: 'max_tokens',
    stop: 'stop_sequences',
    thinking: 'thinking',
  },
  gemini: {
    temperature: 'temperature',
    top_p: 'topP',
    top_k: 'topK',
    max_tokens: 'maxOutputTokens',
    seed: 'seed',
    stop: 'stopSequences',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

const chatFields: ReadonlySet<string> = new Set([
  ...['temperature', 'top_p', 'top_k', 'min_p', 'max_tokens', 'max_completion_tokens', 'n', 'seed', 'stop', 'user'],
  ...[
    'presence_penalty',
    'frequency_penalty',
    'repetition_penalty',
    'logit_bias',
    'logprobs',
    'top_logprobs',
    'verbosity',
  ],
  ...['reasoning_effort', 'response_format', 'parallel_tool_calls', 'service_tier', 'thinking', 'dimensions', 'tools'],
  ...['tool_choice', 'store', 'metadata', 'modalities', 'safety_settings', 'chat_template_kwargs', 'enable_thinking'],
])

const secretFound = 'it may hold a secret: write it into defaults by hand'

/** The `defaults` of a provider: request fields of `litellm_params`, and those of its `extra_body`. */
export function readDefaults(
  params: SourceNode,
  protocol: 'anthropic' | 'gemini' | undefined,
  findings: FindingNotes,
): JsonObject {
  const fields: Record<string, unknown> = {}
  for (const [name, node] of params.members) {
    if (!chatFields.has(name)) continue
    const sent = protocol === undefined ? name : nameAt(protocol, name)
    if (sent === undefined) findings.note(node, 'manual', `svc has no such field for ${protocol ?? ''}: see defaults`)
    else if (mayBeSecret(name, node.plain)) findings.note(node, 'manual', secretFound)
    else {
      fields[sent] =
        sent.startsWith('stop') && sent !== name && typeof node.value === 'string' ? [node.value] : node.plain
      findings.note(node, 'exact', 'in defaults')
    }
  }
  for (const [name, value] of bodyFields(params, findings)) fields[name] = value
  if (protocol !== 'gemini' || Object.keys(fields).length === 0) return fields
  return { generationConfig: fields }
}

/** The fields of `extra_body`, as they are. */
function bodyFields(params: SourceNode, findings: FindingNotes): readonly (readonly [string, unknown])[] {
  return Array.from(params.get('extra_body')?.members ?? []).flatMap(([name, node]) => {
    if (['model', 'messages', 'stream'].includes(name)) findings.note(node, 'manual', 'a field that has no default')
    else if (mayBeSecret(name, node.plain)) findings.note(node, 'manual', secretFound)
    else {
      findings.note(node, 'exact', 'in defaults')
      return [[name, node.plain] as const]
    }
    return []
  })
}

function nameAt(protocol: 'anthropic' | 'gemini', name: string): string | undefined {
  const names: Readonly<Record<string, string>> = otherNames[protocol]
  return Object.hasOwn(names, name) ? names[name] : undefined
}
