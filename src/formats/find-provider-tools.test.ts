import { describe, expect, test } from 'bun:test'
import { hasProviderTools } from './find-provider-tools.ts'
import { formats } from './format-list.ts'

const encoder = new TextEncoder()
const messages = [{ role: 'user', content: 'hi' }]
const requests = {
  chat: ['/v1/chat/completions', { model: 'm', messages }],
  messages: ['/v1/messages', { model: 'm', max_tokens: 9, messages }],
  responses: ['/v1/responses', { model: 'm', input: 'hi' }],
  gemini: ['/v1beta/models/m:generateContent', { contents: [{ parts: [{ text: 'hi' }] }] }],
} as const

function isFound(format: keyof typeof requests, fields: object | string): boolean {
  const [path, request] = requests[format]
  const json = JSON.stringify({ ...request, ...(typeof fields === 'string' ? {} : fields) })
  const body = encoder.encode(typeof fields === 'string' ? `${json.slice(0, -1)},${fields}}` : json)
  return hasProviderTools(formats[format].check(body, { path, headers: new Headers(), parameter: () => null }))
}

const fetching = { type: 'web_fetch_20250910', name: 'web_fetch' }
const own = { name: 'f', input_schema: { type: 'object' } }

describe('tools that run at the provider', () => {
  test.each([
    ['messages', { tools: [own, fetching] }],
    ['messages', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['messages', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
    ['messages', { mcp_servers: [{ type: 'url', url: 'https://example.org', name: 'x' }] }],
    ['messages', '"tools":[{"type":"custom","name":"f","type":"web\\u005ffetch_20250910"}]'],
    ['responses', { tools: [{ type: 'web_search' }] }],
    ['responses', { tools: [{ type: 'image_generation' }] }],
    ['responses', { input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }] }],
    ['gemini', { tools: [{ urlContext: {} }] }],
    ['gemini', { tools: [{ functionDeclarations: [{ name: 'f' }] }, { google_search: {} }] }],
    ['gemini', { tools: [{ codeExecution: {} }] }],
    ['chat', { tools: [{ type: 'function', function: { name: 'f' } }, { type: 'browser_search' }] }],
    ['chat', { web_search_options: {} }],
    ['chat', { plugins: [{ id: 'web' }] }],
  ] as const)('%s with %j', (format, fields) => {
    expect(isFound(format, fields)).toBe(true)
  })

  test.each([
    ['chat', {}],
    ['chat', { tools: [{ type: 'function', function: { name: 'web_search' } }], web_search_options: null }],
    ['chat', { tools: [{ type: 'custom', custom: { name: 'f' } }], enable_search: false }],
    ['chat', { tools: [], messages_: 'web_search' }],
    ['messages', { tools: [own, { ...own, type: 'custom' }] }],
    ['messages', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['messages', { tools: [{ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }] }],
    ['messages', { tools: [{ type: 'computer_20250124', name: 'computer', display_width_px: 9 }] }],
    ['responses', { tools: [{ type: 'function', name: 'f' }, { type: 'custom', name: 'g' }, { type: 'local_shell' }] }],
    ['gemini', { tools: [{ functionDeclarations: [{ name: 'f' }] }, { function_declarations: [] }] }],
  ] as const)('not %s with %j', (format, fields) => {
    expect(isFound(format, fields)).toBe(false)
  })
})
